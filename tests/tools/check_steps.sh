#!/usr/bin/env bash
# check_steps.sh: tests that the table at the end of .ci/run and .ci/full hides nothing: a failed step, a failed test
# and a test skipped without a valid reason must make it fail. Sources .ci/steps.sh and runs its own commands as steps.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS PATTERN...: runs the steps on standard input, and expects this exit status and output.
expect() {
  local wanted=$1 status=0 pattern
  shift
  { printf 'root=%q\ncd "$root"\n. .ci/steps.sh\n' "$root" && cat && echo finish; } >"$work/steps"
  bash "$work/steps" >"$work/printed" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || { cat "$work/printed"; echo "error: status $status, not $wanted"; exit 1; }
  for pattern in "$@"; do
    grep -qE -- "$pattern" "$work/printed" || { cat "$work/printed"; echo "error: nothing like '$pattern'"; exit 1; }
  done
}

expect 0 '^good +[0-9]+ s  passed$' '^gpu +-  not run: there is no nvcc$' '^all +[0-9]+ s  passed$' <<'END'
step "good" true
cannot "gpu" "there is no nvcc"
END
expect 1 '^bad +[0-9]+ s  FAILED \(status 2\)$' '^good +[0-9]+ s  passed$' 'what "bad" printed' '^all .* 1 FAILED$' <<'END'
step "bad" ls /nonexistent
step "good" true
END

# results MARK OUTPUT: replaces ctest, and writes the results of one test.
cat >"$work/results" <<'END'
#!/bin/sh
printf '<testsuite><testcase name="room.Test"><%s/><system-out>%s</system-out></testcase></testsuite>\n' "$1" "$2" >"$4"
END
printf 'no nvcc\ttrue\nno GPU\tfalse\n' >"$work/skips.txt"
checked() { .ci/check_tests.py "$work/results.xml" "$work/skips.txt" >"$work/printed"; }
with() { sh "$work/results" "$1" "$2" --output-junit "$work/results.xml"; }
# refuses MARK OUTPUT: expects that a test with this result makes the run fail and is named.
refuses() {
  with "$1" "$2"
  if checked; then echo "error: '$1: $2' passed"; exit 1; fi
  grep -qE "error: room.Test .*$2" <(tr '\n' ' ' <"$work/printed")
}
with skipped "there is no nvcc"
checked
refuses skipped "there is no GPU"
refuses skipped "it is Monday"
refuses failure "1 is not 2"
