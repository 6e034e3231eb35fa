#!/usr/bin/env bash
# Sets up what is missing, builds, and runs all tests; arguments go to ctest. Example: ./test.sh -R cli_
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"
install_missing "$root/cmake/packages.txt" "$root/cmake/packages-class.txt"
configure cpu
turn_on cpu CONVLAB_SIMT
build cpu
exec ctest --test-dir "$root/build/cpu" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
