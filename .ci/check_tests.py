#!/usr/bin/env python3
"""check_tests.py RESULTS.xml SKIPS.txt: prints the output of failed tests. Fails if a test failed, or was skipped for a
reason that does not hold on this machine.

RESULTS.xml is written by `ctest --output-junit`. SKIPS.txt has one reason per line: a regular expression that must
match the test's message, a tab, and a shell command that succeeds if the reason holds, such as `! command -v nvcc`. In
the command, $build is the folder of RESULTS.xml.
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml


MOST_LINES, MOST_COLUMNS = 40, 300  # of a failed test's output, from its end


def tests_that(ended, path):
    """Yields the name and the output of each test with this mark: "skipped" or "failure"."""
    for case in xml.parse(path).getroot().iter("testcase"):
        if case.find(ended) is not None:
            yield case.get("name"), case.findtext("system-out") or ""


def message_in(output):
    """Returns the test's message without GoogleTest's own lines."""
    return " ".join(line for line in output.split("\n") if line and not line.startswith(("[", "Note:", "Running")))


def allowed_reasons(path):
    """Yields (pattern, command) for each line of the list."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                pattern, command = line.rstrip("\n").split("\t")
                yield re.compile(pattern), command


def main(results, skips):
    holds = {}
    environment = os.environ | {"build": os.path.dirname(results)}
    counts, wrong = {}, []
    reasons = list(allowed_reasons(skips))
    for name, output in tests_that("skipped", results):
        for pattern, command in reasons:
            if pattern.search(output):
                if command not in holds:
                    ended = subprocess.run(["bash", "-c", command], env=environment, capture_output=True)
                    holds[command] = ended.returncode == 0
                if holds[command]:
                    counts[pattern.pattern] = counts.get(pattern.pattern, 0) + 1
                    break
        else:
            wrong.append((name, message_in(output)))
    for pattern, count in sorted(counts.items()):
        print(f"skipped: {count} tests, as '{pattern}' holds here")
    for name, output in wrong:
        print(f"error: {name} was skipped, and no reason in {skips} holds here: {output}")
    failed = list(tests_that("failure", results))
    for name, output in failed:
        print(f"error: {name} failed:")
        print("\n".join(line[:MOST_COLUMNS] for line in output.rstrip().split("\n")[-MOST_LINES:]))
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
