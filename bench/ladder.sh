#!/usr/bin/env bash
# Measures the ladder on this machine's GPU: verifies every rung on all shape lists, then times every rung and cuDNN on
# the convolutions of every semester's network with 100, 1000 and 10000 images.
#
#   bench/ladder.sh BINARY FOLDER            writes FOLDER/fa19.json, ... (docs/reference/records.md) and verify.txt
#   bench/ladder.sh BINARY FOLDER MODEL...   times only these models, and verifies nothing
#
# About ten minutes on an H200; sp25 and fa19 take longest.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
binary=$1 folder=$2
shift 2
mkdir -p "$folder"
status=0
if [ $# = 0 ]; then
  "$binary" verify --device cuda >"$folder/verify.log" || status=$?
  grep -E '^(FAILED|[0-9]+ passed)' "$folder/verify.log" | tee "$folder/verify.txt"
  rm "$folder/verify.log"
  set -- fa17-high sp18 fa18 sp19 sp19-library fa19 sp25
fi
for model in "$@"; do
  "$binary" bench --device cuda --model "$model" -n 100,1000,10000 --seconds 0.2 --samples 15 --json "$folder/$model.json" |
    grep -E ' against |FAILED|: .* GFLOP,' || status=$?  # 1: a kernel or the library was wrong, and is not in the file
done
exit "$status"
