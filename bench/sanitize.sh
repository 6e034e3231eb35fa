#!/usr/bin/env bash
# Runs CUDA kernels on the shape lists under compute-sanitizer: memory accesses, races and uninitialized memory. Prints
# a line per kernel and tool; FOLDER/TOOL-KERNEL.txt has the findings.
#
#   bench/sanitize.sh BINARY FOLDER [GLOB]        kernels whose names match (default 'cuda.*')
#
# SHAPES="FILE ..." selects other lists, TOOLS="memcheck ..." other tools. Exit status 1 if there are findings. Needs a
# GPU and the CUDA toolkit's compute-sanitizer; a kernel takes from seconds to minutes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
binary=$1 folder=$2 glob=${3:-cuda.*}
read -r -a shapes <<<"${SHAPES:-$(echo "$root"/shapes/*.txt)}"
read -r -a tools <<<"${TOOLS:-memcheck racecheck initcheck}"
command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not here; it comes with the CUDA toolkit" >&2; exit 3; }
mkdir -p "$folder"
kernels=$("$binary" list kernels --json - | python3 -c '
import fnmatch, json, sys
for kernel in json.load(sys.stdin)["kernels"]:
    if kernel["device"] == "cuda" and fnmatch.fnmatch(kernel["name"], sys.argv[1]):
        print(kernel["name"])' "$glob")
[ -n "$kernels" ] || { echo "no CUDA kernel is named $glob; '$binary list kernels' shows what there is" >&2; exit 2; }
found=0
for kernel in $kernels; do
  for tool in "${tools[@]}"; do
    file=$folder/$tool-$kernel.txt
    began=$SECONDS verdict=clean
    : >"$file"
    for list in "${shapes[@]}"; do
      compute-sanitizer --tool "$tool" --error-exitcode 9 "$binary" verify --device cuda --kernel "$kernel" --shapes "$list" \
        >>"$file" 2>&1 || { verdict="NOT CLEAN, see $file" found=1; }
    done
    passed=$(grep -c '^PASSED' "$file" || true)
    echo "$kernel $tool: $verdict ($passed passed, $((SECONDS - began)) s)"
  done
done
exit $found
