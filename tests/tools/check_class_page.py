#!/usr/bin/env python3
"""Tests a class's web page in headless Chromium, as a student would use it.

    check_class_page.py path/to/convlab [--screenshots FOLDER]

Creates a class with students, verdicts and hostile names, starts `convlab class serve`, logs in with a token, submits a
file, and watches its stages advance without reloading. Checks every page at 1400, 768 and 390 pixels, light and dark:
no console messages, no requests except to the server, nothing wider than the screen unless it scrolls in its own box,
and no squeezed columns. Needs Playwright and Chromium, as check_report.py does; without them it prints SKIPPED and
exits with 77.
"""

import argparse
import itertools
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

from check_report import SQUEEZED, TOO_WIDE, WIDTHS, chromium, end

HOSTILE = "<img src=x onerror=alert(1)>'\"&"
STUDENTS = ["Ada Lovelace", HOSTILE, "Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh von und zu"] + [
    f"student {i}" for i in range(12)]
LONG_LINE = "new-forward.cuh(12): error: identifier \"" + "x" * 300 + "\" is undefined"


def judgement(number, clock):
    """Returns a synthetic verdict."""
    result = {"verdict": "PASSED", "failed_at": "done", "reason": "", "what_to_do": "", "math": "fp16" if number % 5 == 4 else "fp32",
              "counters": [], "stages": [{"stage": "compiling", "seconds": 2.4, "log": "a warning\n" + LONG_LINE},
                                         {"stage": "verifying", "seconds": 0.8, "log": ""}]}
    if number % 4 == 3:
        result |= {"verdict": "WRONG", "failed_at": "verifying", "reason": f"3 elements of y are wrong {HOSTILE}\n" + "y" * 200,
                   "what_to_do": "look at the last column, where a thread reads past the image"}
        result["stages"][1]["log"] = "\n".join(f"y[{i}] is 0, and must be {i}" for i in range(80))
    elif clock:
        ratio = 0.9 / (1 + number % 9)
        result["ratio"] = {"median": ratio, "low": 0.97 * ratio, "high": 1.05 * ratio, "samples": 41}
        result["times"] = [{"layer": layer, "seconds": ratio * share, "reference_s": share, "bound_s": 0.05 * share}
                           for layer, share in (("n1000_c1h70w70_k12r5s5", 0.004), ("n1000_c12h33w33_k24r5s5", 0.009))]
    else:
        result["counters"] = [
            {"layer": layer, "kernel": f"void conv_forward_kernel<{tile}, float>", "launches": 1, "flops": 12_000_000, "global_sectors": 220_000,
             "least_sectors": 110_000, "shared_wavefronts": 99_000, "bank_conflicts": 1200, "occupancy": 0.75}
            for layer, tile in (("n2_c1h70w70_k12r5s5", 16), ("n2_c12h33w33_k24r5s5", 32))]
    return result


class Class:
    """A class in a folder, with verdicts stored in place of a worker's."""

    def __init__(self, convlab, folder):
        self.convlab, self.dir = convlab, str(folder / "class")
        self.run("new", self.dir, "--assignment", "fa19", "sp25", "--device", "cuda", "--name", f"Applied parallel programming {HOSTILE}",
                 "--show-names", "--deadline", "2099-05-01T23:59:00+02:00")
        settings = pathlib.Path(self.dir, "class.toml")
        head, sp25 = settings.read_text().split('name = "sp25"')
        settings.write_text(head + 'name = "sp25"' + sp25.replace('device = "cuda"', 'device = "simt"'))
        self.kernel = f"{self.dir}/public/fa19/new-forward.cuh"
        for student, assignment in itertools.product(STUDENTS, ("fa19", "sp25")):
            self.hand_in(student, assignment)
        for _ in range(12):
            self.hand_in(STUDENTS[0], "fa19")
        self.judge_all()
        self.hand_in(STUDENTS[1], "fa19")

    def run(self, *arguments):
        done = subprocess.run([self.convlab, "class", *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: convlab class {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def hand_in(self, student, assignment):
        self.run("submit", self.dir, self.kernel, "--assignment", assignment, "--as", student)

    def judge_all(self):
        with sqlite3.connect(f"{self.dir}/class.db") as database:
            waiting = database.execute("SELECT id, assignment FROM jobs JOIN submissions ON number = submission WHERE done = 0").fetchall()
            for job, assignment in waiting:
                database.execute("INSERT INTO results VALUES (?, ?)", (job, json.dumps(judgement(job, assignment == "fa19"))))
                database.execute("UPDATE jobs SET done = 1, attempt = 1, stage = 'done' WHERE id = ?", (job,))
        database.close()

    def token(self, student):
        return self.run("token", self.dir, student).split()[0]


class Looker:
    """One browser window, and the errors found in it."""

    def __init__(self, browser, base, width, scheme, screenshots):
        self.base, self.name, self.screenshots = base, f"{width}-{scheme}", screenshots
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page, self.width, self.wrong = self.context.new_page(), width, []
        self.page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", lambda request: request.url.startswith((base, "data:")) or self.wrong.append(f"request: {request.url}"))

    def look(self, what):
        needed = self.page.evaluate("() => document.documentElement.scrollWidth")
        if needed > self.width:
            self.wrong.append(f"{what} is {needed} pixels wide")
        self.wrong.extend(f"{what}: wider than the screen: {each}" for each in self.page.evaluate(TOO_WIDE))
        self.wrong.extend(f"{what}: squeezed: {each}" for each in self.page.evaluate(SQUEEZED))
        if self.page.locator("main img, main script").count():
            self.wrong.append(f"{what}: a name became an element")
        if self.screenshots:
            self.page.screenshot(path=self.screenshots / f"{what}-{self.name}.png", full_page=True)

    def open(self, path, what):
        self.page.goto(self.base + path)
        self.look(what)

    def demand(self, text):
        if text not in self.page.inner_text("main"):
            self.wrong.append(f"{self.page.url}: “{text}” is not there")


def use(looker, some, width, scheme):
    page = looker.page
    looker.open("", "front")
    looker.open("enter", "enter")
    page.fill("#token", "0" * 32)
    page.click("main button")
    looker.look("refused")
    looker.demand("token is not valid")
    looker.wrong = [each for each in looker.wrong if "status of 403" not in each]  # Chromium logs it, too
    page.fill("#token", some.token(STUDENTS[0]))
    page.click("main button")
    page.wait_for_url("**/own")
    looker.look("own")
    looker.open("board/fa19", "board")
    looker.demand("(you)")
    looker.open("board/sp25", "board-simt")
    for number, what in ((1, "passed"), (2, "counted"), (35, "wrong")):
        looker.open(f"submission/{number}", what)
    looker.open("own", "own")
    page.set_input_files("#file", some.kernel)
    page.click("article button")
    page.wait_for_url("**/submission/*")
    looker.look("waits")
    looker.demand("queued")
    if (width, scheme) == (min(WIDTHS), "light"):  # once is enough, because it waits for a refresh
        some.judge_all()
        page.wait_for_selector(".verdict", timeout=15000)
        page.evaluate("() => document.querySelector('main').insertAdjacentHTML('beforeend', '<p>wide'.padEnd(700, 'x'))")
        before = len(looker.wrong)
        looker.look("planted")
        if len(looker.wrong) == before:
            looker.wrong.append("a paragraph that is too wide was not found")
        del looker.wrong[before:]
    page.goto(looker.base + "own")
    page.click("nav button")
    page.wait_for_url(looker.base)
    looker.context.close()
    return [f"{width} pixels, {scheme}: {each}" for each in looker.wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convlab")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    wrong = []
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        if options.screenshots:
            options.screenshots.mkdir(parents=True, exist_ok=True)
        some = Class(options.convlab, pathlib.Path(folder))
        server = subprocess.Popen([options.convlab, "class", "serve", some.dir, "--port", "0"], stdout=subprocess.PIPE, text=True)
        try:
            base = server.stdout.readline().strip()
            for width, scheme in itertools.product(WIDTHS, ("light", "dark")):
                wrong.extend(use(Looker(browser, base, width, scheme, options.screenshots), some, width, scheme))
        finally:
            server.terminate()
            server.wait()
    end(wrong)


if __name__ == "__main__":
    main()
