"""Threads, forks and signals."""

import gc
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import convlab


def test_threads(session, images):
    scores = session(images)
    with ThreadPoolExecutor(8) as pool:
        for number, result in pool.map(lambda i: (i % 3 + 1, session(images[: i % 3 + 1])), range(200)):
            np.testing.assert_array_equal(result, scores[:number])


def test_calls_of_threads_are_batched(images):
    session = convlab.Session("sp25", device="cpu", batch_wait_us=2000, batch_images=16)
    scores = session(images)
    with ThreadPoolExecutor(8) as pool:
        for i, result in pool.map(lambda i: (i % 3, session(images[i % 3 : i % 3 + 1])), range(100)):
            np.testing.assert_allclose(result[0], scores[i], atol=1e-6)


def test_other_threads_go_on_during_a_run(session):
    """A run releases the GIL."""
    many = np.zeros((2000, 1, 86, 86), np.uint8)
    session(many)
    counted, done = 0, threading.Event()

    def run():
        session(many)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not done.wait(0.001):
        counted += 1
    thread.join()
    assert counted > 2


def test_two_threads_write_one_output(session, images):
    """Runs are serialized, so the output is one of the two results."""
    inputs = images, images[::-1].copy()
    wanted = [session(x) for x in inputs]
    out = np.empty((3, 10), np.float32)
    for _ in range(20):
        threads = [threading.Thread(target=session, args=(x,), kwargs={"out": out}) for x in inputs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert any(np.array_equal(out, each) for each in wanted)


def test_arrays_live_as_long_as_their_run(session, images):
    """Only the run holds a reference to the input while the garbage collector runs."""
    scores = session(images)
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(lambda: session(images.copy())) for _ in range(50)]
        gc.collect()
        for run in runs:
            np.testing.assert_array_equal(run.result(), scores)


def in_child(work) -> int:
    """Runs work() in a forked child and returns its exit status; SIGALRM ends a child that hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os._exit(work())
        except BaseException:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12 warns about fork() in a process with threads
def test_fork(session, images):
    scores = session(images)

    def use_the_parents() -> int:
        for use in (session, session.plan, lambda x: session.run(None, {"data": x})):
            try:
                use(images)
                return 1
            except convlab.Error as error:
                if "fork" not in str(error):
                    return 2
        return 0

    def open_and_close() -> int:
        own = convlab.Session("sp25", device="cpu")
        same = np.array_equal(own(images), scores)
        del own
        gc.collect()
        return 0 if same else 1

    def end_the_parents() -> int:
        parents = [convlab.Session("sp25", device="cpu")]
        parents[0](images)
        return in_child(lambda: (parents.clear(), gc.collect()) and 0)

    assert in_child(use_the_parents) == 0
    assert in_child(open_and_close) == 0
    assert end_the_parents() == 0
    np.testing.assert_array_equal(session(images), scores)


def test_interrupt():
    """KeyboardInterrupt is raised right after the run, and the session stays usable."""
    script = """
import os, signal, threading
import numpy as np, convlab
session = convlab.Session("sp25", device="cpu")
many = np.zeros((4000, 1, 86, 86), np.uint8)
want = session(many)
timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
timer.start()
try:
    for _ in range(100):
        session(many)
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted", np.array_equal(session(many), want))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert ended.stdout.strip() == "interrupted True", ended.stderr


def test_the_end_of_the_interpreter_with_sessions_open():
    script = """
import numpy as np, convlab
session = convlab.Session("sp25", device="cpu")
session(np.zeros((1, 1, 86, 86), np.float32))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
