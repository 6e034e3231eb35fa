#!/usr/bin/env bash
# Reads the GPU's counters of every rung in fa19's network, for 1000 images, if the driver permits it.
#
#   bench/counters.sh BINARY FOLDER        writes FOLDER/KERNEL.json (profiles without their traces)
#
# Options for `convlab profile` (--data DIR) may follow. About a minute on an H200. `convlab report` draws the counters.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
binary=$1 folder=$2
shift 2
mkdir -p "$folder"
"$binary" list kernels --json - | python3 -c '
import json, sys
for kernel in json.load(sys.stdin)["kernels"]:
    if kernel["device"] == "cuda":
        print(kernel["name"])' |
  while read -r kernel; do
    file=$folder/$kernel.json
    "$binary" profile fa19 -n 1000 --device cuda --plan layers --kernel "$kernel" --counters "$@" --json "$file" >/dev/null
    python3 - "$file" <<'PYTHON'
import json, sys
path = sys.argv[1]
profile = json.load(open(path))
profile.pop("trace", None)
json.dump(profile, open(path, "w"), indent=1)
PYTHON
    echo "$kernel"
  done
