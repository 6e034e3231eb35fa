#!/usr/bin/env bash
# build.sh [OUT]: makes the site of docs/ in OUT (build/site/html): Sphinx with MyST, Doxygen for the library's headers.
# It takes convlab from build/cpu, for the reference of commands and for pictures. Warnings, links that lead nowhere and
# pictures that are not there are errors.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"
install_missing "$root/cmake/packages-docs.txt"

work=$root/build/site
out=$(realpath -m "${1:-$work/html}")
program=$root/build/cpu/bin/convlab
[ -x "$program" ] || fail "$program is not there; ./test.sh builds it"
python=/usr/bin/python3  # Debian's, which has Debian's packages

mkdir -p "$work"
rm -rf "$work/source" "$work/made" "$work/doxygen" "$work/trees"
"$python" "$root/site/prepare.py" "$root" "$work" "$program"
(cd "$root/include" && SITE_WORK="$work" doxygen "$root/site/Doxyfile")
rm -rf "$out"
"$python" -m sphinx -q -E -W -n --keep-going -b html -c "$root/site" -d "$work/trees" "$work/source" "$out" ||
  fail "the site has warnings, see above"
"$python" "$root/site/check_links.py" "$out"
say "the site is in $out"
