#!/usr/bin/env bash
# Runs the CUDA programs of tests/programs on simt for arm64, under qemu: build/cpu translates them, the cross compiler
# compiles them, and build/arm64 has the library. Prints the programs whose results are not as expected.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# run_on_arm64 FILE: leaves its output in $folder/output and its exit status in $status.
run_on_arm64() {
  status=0
  if build/cpu/bin/convlab cuda build -ccbin aarch64-linux-gnu-g++ -L build/arm64/bin "$1" -o "$folder/program" \
    >"$folder/output" 2>&1; then
    LD_LIBRARY_PATH=build/arm64/bin timeout 120 qemu-aarch64 -L / "$folder/program" >"$folder/output" 2>&1 || status=$?
  else
    status=2
  fi
}

complain() {
  failed=$((failed + 1))
  printf '%s: exit status %s\n' "$1" "$status"
  tail -n 5 "$folder/output"
}

count=0
for file in tests/programs/*.cu; do
  count=$((count + 1))
  run_on_arm64 "$file"
  [ "$status" = 0 ] && grep -q "convlab: no errors found" "$folder/output" || complain "$file"
done
for file in tests/programs/wrong/*.cu; do
  count=$((count + 1))
  run_on_arm64 "$file"
  expected=$(sed -n '1s,^// expect: ,,p' "$file")
  [ "$status" = 1 ] && grep -qF -- "$expected" "$folder/output" || complain "$file"
done
echo "$((count - failed)) of $count programs as expected on arm64"
[ "$failed" = 0 ]
