#!/usr/bin/env python3
"""lint.py [FILE | FOLDER ...] [--since REVISION]: runs clang-tidy on .cc files with the checks of .clang-tidy.

Without files or folders, lints all rooms. --since lints only files whose code changed after commit REVISION or in the
working tree; for a changed header, one .cc file that includes it. Neither a file's name, nor what it includes, nor its
comments are code, unless clang-tidy reads them. A file that passed is skipped while its preprocessed text,
the checks and clang-tidy stay the same: ~/.cache/convlab/lint has an empty file named by a hash of these.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/lint"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "convlab/lint"
FOLDERS = ("app", "convlab", "fuzz", "library")


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def configure():
    # clang-tidy supports neither GCC's precompiled headers nor unity builds.
    options = ["-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DCONVLAB_UNITY=OFF", "-DCMAKE_CXX_COMPILER_LAUNCHER="]
    made = run("cmake", "--preset", "cpu", "-B", str(BUILD), *options)
    if made.returncode != 0:
        sys.exit(made.stderr)
    # Sources and headers that the build generates.
    made = run("ninja", "-C", str(BUILD), "convlab_generated")
    if made.returncode != 0:
        sys.exit(made.stdout + made.stderr)


@functools.cache
def arguments_of_clang():
    """Returns clang's arguments in addition to GCC's: the folder of GCC headers that clang lacks, such as backtrace.h.
    """
    return ["-Wno-unknown-warning-option", "-idirafter" + run("g++", "-print-file-name=include").stdout.strip()]


@functools.cache
def version():
    return run("clang-tidy", "--version").stdout.encode()


def commands():
    """Returns the compiler's arguments for each .cc file of the rooms, by its path relative to the root."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT) and path.suffix == ".cc" and path.relative_to(ROOT).parts[0] in FOLDERS:
            found[str(path.relative_to(ROOT))] = (entry["directory"], shlex.split(entry["command"]))
    return found


def code_of(text):
    """Returns the text without its comments, blanks and includes; all of it if it has what this does not parse."""
    if 'R"' in text or "NOLINT" in text:
        return text
    token = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
    code = token.sub(lambda found: found[0] if found[0][0] in "\"'" else " ", text)
    return "".join(re.sub(r"^#include .*$", "", code, flags=re.MULTILINE).split())


def is_code_changed(revision, path, path_before):
    before = run("git", "show", f"{revision}:{path_before}")
    return before.returncode != 0 or code_of(before.stdout) != code_of((ROOT / path).read_text())


def changed_since(revision, known):
    """Returns the known .cc files whose code differs from this revision, and for each such header one file that
    includes it.
    """
    changed = run("git", "diff", "--name-status", "-M", "-l0", revision)
    if changed.returncode != 0:
        sys.exit(changed.stderr)
    untracked = run("git", "ls-files", "--others", "--exclude-standard")
    before = {path: path for path in untracked.stdout.splitlines()}  # by present path
    for line in changed.stdout.splitlines():
        _, first, *renamed = line.split("\t")
        before[renamed[0] if renamed else first] = first
    touched = {path for path in before if (path in known or path.endswith(".h")) and (ROOT / path).exists()
               and is_code_changed(revision, path, before[path])}
    found = touched & known.keys()
    for header in sorted(path for path in touched if path.endswith(".h")):
        own = header.removesuffix(".h") + ".cc"
        include = f'#include "{header.removeprefix("include/")}"'
        readers = (path for path in known if include in (ROOT / path).read_text())
        found.update([own] if own in known else itertools.islice(readers, 1))
    return found


def key_of(directory, arguments):
    """Returns a hash of everything that affects clang-tidy's result: the preprocessed text, the checks and the program.
    """
    at = arguments.index("-o")
    preprocess = arguments[:at] + arguments[at + 2 :]
    preprocess[preprocess.index("-c")] = "-E"
    text = subprocess.run(["clang++", *arguments_of_clang(), *preprocess[1:]], cwd=directory, capture_output=True)
    content = hashlib.sha256(text.stdout.replace(str(ROOT).encode(), b""))
    content.update((ROOT / ".clang-tidy").read_bytes())
    content.update(version())
    return content.hexdigest()


def lint(path, directory, arguments):
    """Returns clang-tidy's findings for a file, or ""."""
    passed = CACHE / key_of(directory, arguments)
    if passed.exists():
        return ""
    extra = [f"--extra-arg={argument}" for argument in arguments_of_clang()]
    told = run("clang-tidy", "-p", str(BUILD), "--quiet", *extra, str(ROOT / path))
    if told.returncode == 0:
        passed.touch()
        return ""
    return told.stdout or told.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--since", metavar="REVISION", help="only files that changed after this commit")
    parser.add_argument("places", nargs="*", metavar="PLACE", help="files or folders, relative to the root (default: all rooms)")
    arguments = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    configure()
    wanted = commands()
    if arguments.places:
        places = [pathlib.PurePath(place) for place in arguments.places]
        wanted = {path: command for path, command in wanted.items()
                  if any(pathlib.PurePath(path).is_relative_to(place) for place in places)}
    if arguments.since:
        changed = changed_since(arguments.since, wanted)
        wanted = {path: command for path, command in wanted.items() if path in changed}
    if not wanted and not arguments.since:
        sys.exit("lint: there is no such file")
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(lint, path, *command): path for path, command in wanted.items()}
        for done in concurrent.futures.as_completed(running):
            if done.result():
                wrong += 1
                print(done.result(), flush=True)
    print(f"lint: {len(wanted)} files, {wrong} with findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
