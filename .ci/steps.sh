# Sourced by .ci/run and .ci/full, with $root set: steps, and the table of them that both end with.
#
# A step passes or fails. What it needs and this machine cannot have, such as nvcc, is named in the table with its
# reason; that is the only way to leave a step out. Exit status: 0 if every step passed or could not run, 1 otherwise.

# shellcheck source=../cmake/setup.sh
. "$root/cmake/setup.sh"

table=() failed=0 began=$SECONDS ends=() log=$(mktemp)

# step NAME COMMAND...: runs it in a shell of its own, so that it may use `set -e`, and records how it ended.
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

# cannot NAME REASON: a step that this machine cannot run.
cannot() {
  table+=("$(printf '%-44s %8s  not run: %s' "$1" - "$2")")
  say "$1: not run: $2"
}

# finish: prints the last lines of failed steps, then the table, and exits.
finish() {
  rm -f "$log"
  [ "$failed" = 0 ] || printf '%s\n' "${ends[@]}"
  printf '\n%-44s %8s\n' step time
  printf '%s\n' "${table[@]}"
  printf '%-44s %6d s  %s\n' all $((SECONDS - began)) "$([ "$failed" = 0 ] && echo passed || echo "$failed FAILED")"
  [ "$failed" = 0 ]
  exit
}

# sources FOLDER...: the tracked C, C++ and CUDA files; without git, all such files.
sources() {
  if git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -C "$root" ls-files -- "$@"
  else
    find "$@" -type f
  fi | grep -E '\.(c|h|hpp|cc|cu|cuh)$'
}

# with_results FILE COMMAND...: runs tests, which write their results to FILE in JUnit's format. Fails if a test failed,
# or was skipped for a reason that .ci/skips.txt does not allow here.
with_results() {
  local results=$1 status=0
  shift
  "$@" --output-junit "$results" || status=$?
  .ci/check_tests.py "$results" .ci/skips.txt
  return "$status"
}

# run_tests PRESET ARGUMENT...: ctest, with its results checked.
run_tests() {
  local preset=$1
  shift
  with_results "$root/build/$preset/tests.xml" ctest --preset "$preset" -j "$(nproc)" "$@"
}
