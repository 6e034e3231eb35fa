#!/usr/bin/env bash
# abi_test.sh SOURCES [record]: the binary interface of include/convlab/convlab.h must be the one that
# library/convlab.abi records, to which programs were compiled. After something was added behind the last field of the
# table, `record` writes it anew. Exit status 77:
# SKIPPED, with the reason.
set -euo pipefail
sources=$(realpath "$1") recorded=$1/library/convlab.abi
for program in abidw abidiff; do
  command -v $program >/dev/null || { echo "abi: SKIPPED: $program is not there (Debian: abigail-tools)"; exit 77; }
done
[ "$(uname -m)" = x86_64 ] || { echo "abi: SKIPPED: it is recorded for x86_64"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# What a program sees of the library, without its inside.
cd "$folder"
printf '#include <convlab/convlab.h>\nconst convlab_api* convlab_get_api(int32_t version) { (void)version; return 0; }\n' >api.c
cc -std=c99 -g -shared -fPIC -I"$sources/include" -Wl,-soname,libconvlab.so api.c -o libconvlab.so
abidw --no-corpus-path --no-comp-dir-path --short-locs --drop-private-types libconvlab.so --out-file now.abi
if [ "${2:-}" = record ]; then
  cp now.abi "$sources/library/convlab.abi"
  exit
fi
cd - >/dev/null
abidiff "$recorded" "$folder/now.abi" || {
  echo "abi: the interface is not the recorded one, see above. Where the table only grew at its end: tests/library/abi_test.sh . record" >&2
  exit 1
}
echo "abi: as recorded"
