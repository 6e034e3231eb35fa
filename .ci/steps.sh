# Sourced by .ci/run and .ci/full with $root set: defines steps, and the table of steps that both end with.
#
# A step passes or fails. If this machine cannot have what a step needs, such as nvcc, the table lists the step with the
# reason; there is no other way to omit a step. Exit status: 0 if every step passed or could not run, 1 otherwise.

# shellcheck source=../cmake/setup.sh
. "$root/cmake/setup.sh"

table=() failed=0 began=$SECONDS ends=() log=$(mktemp)

# step NAME COMMAND...: runs the command in its own shell, so that it may use `set -e`, and records the result.
step() {
  local name=$1 start=$SECONDS status=0
  shift
  say "$name ..."
  set +e
  (
    set -euo pipefail
    "$@"
  ) 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  set -e
  local verdict=passed
  if [ "$status" != 0 ]; then
    verdict="FAILED (status $status)"
    failed=$((failed + 1))
    ends+=("$(printf '\nthe end of what "%s" printed:\n' "$name" && tail -n 60 "$log")")
  fi
  table+=("$(printf '%-44s %6d s  %s' "$name" $((SECONDS - start)) "$verdict")")
  say "$name: $verdict, $((SECONDS - start)) s"
}

# cannot NAME REASON: records a step that this machine cannot run.
cannot() {
  table+=("$(printf '%-44s %8s  not run: %s' "$1" - "$2")")
  say "$1: not run: $2"
}

# finish: prints the last lines of failed steps and the table, then exits.
finish() {
  rm -f "$log"
  [ "$failed" = 0 ] || printf '%s\n' "${ends[@]}"
  printf '\n%-44s %8s\n' step time
  printf '%s\n' "${table[@]}"
  printf '%-44s %6d s  %s\n' all $((SECONDS - began)) "$([ "$failed" = 0 ] && echo passed || echo "$failed FAILED")"
  [ "$failed" = 0 ]
  exit
}

# sources FOLDER...: prints the tracked C, C++ and CUDA files or, without git, all such files.
sources() {
  if git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -C "$root" ls-files -- "$@"
  else
    find "$@" -type f
  fi | grep -E '\.(c|h|hpp|cc|cu|cuh)$'
}

# with_results FILE COMMAND...: runs tests that write JUnit results to FILE. Fails if a test failed, or was skipped for
# a reason that .ci/skips.txt does not allow here.
with_results() {
  local results=$1 status=0
  shift
  "$@" --output-junit "$results" || status=$?
  .ci/check_tests.py "$results" .ci/skips.txt
  return "$status"
}

# run_tests PRESET ARGUMENT...: runs ctest and checks its results.
run_tests() {
  local preset=$1
  shift
  with_results "$root/build/$preset/tests.xml" ctest --preset "$preset" -j "$(nproc)" "$@"
}
