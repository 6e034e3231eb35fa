#!/usr/bin/env bash
# Sets up what is missing, builds, and runs the tests: all of them, or those of one room (a folder of convlab/, or app,
# docs, library), without those that take long (tests/long.txt). Further arguments go to ctest. Examples:
#   ./test.sh                      everything but the tests with the label slow, which .ci/full runs
#   ./test.sh plan                 the tests of convlab/plan, and only the programs that they need
#   ./test.sh judge --all          also those that take long
#   ./test.sh kernels/cpu/nchw     a room without tests of its own: those of the room that it is in
#   ./test.sh -R cli_              what ctest selects by name
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"
room=
case ${1-} in
  '' | -*) ;;
  *)
    room=${1#convlab/}
    shift
    ;;
esac
install_missing "$root/cmake/packages.txt" "$root/cmake/packages-class.txt"
configure cpu
set_options cpu CONVLAB_SIMT=ON CONVLAB_INSTRUCTION_SETS=all
cd "$root"
if [ -z "$room" ]; then
  build cpu
  [ $# -gt 0 ] || set -- -LE slow
  exec ctest --preset cpu -j "$(nproc)" "$@"
fi
rooms=build/cpu/tested_rooms.txt
tested=${room%/}
until grep -qxF "$tested" "$rooms"; do
  case $tested in
    */*) tested=${tested%/*} ;;
    *) fail_usage "there are no tests of '$room'; rooms with tests: $(tr '\n' ' ' <"$rooms")" ;;
  esac
done
[ "$tested" = "$room" ] || say "the tests of $room are those of $tested"
build cpu "tests_of_$tested"
if [ "${1-}" = --all ]; then
  shift
else
  say "tests that take long (tests/long.txt) are left out; ./test.sh $room --all runs them, too"
  set -- -E "$(grep -v '^#' tests/long.txt | paste -sd '|')" "$@"
fi
exec ctest --preset cpu -j "$(nproc)" -L "^room:$tested\$" "$@"
