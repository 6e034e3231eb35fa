#!/usr/bin/env bash
# python_test.sh BUILD SOURCES: the Python package on an installed convlab, in a virtual environment of its own; exits
# with 77 where there is no way to make one.
set -euo pipefail
build=$(realpath "$1") sources=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

skip() {
  echo "python: SKIPPED: $*"
  exit 77
}

fail() {
  echo "python: $*" >&2
  exit 1
}

command -v python3 >/dev/null || skip "there is no python3"
[ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ] ||
  skip "there are no headers of Python (Debian: python3-dev)"
# What is installed beside, such as PyTorch or Ray, is tested, too.
python3 -m venv --system-site-packages "$folder/venv" >"$folder/log" 2>&1 ||
  skip "python3 -m venv fails (Debian: python3-venv)"
python=$folder/venv/bin/python
"$python" -m pip install -q --retries 1 --timeout 20 nanobind numpy pytest >"$folder/log" 2>&1 ||
  skip "PyPI is not reachable: $(tail -n 1 "$folder/log")"

cmake --install "$build" --prefix "$folder/convlab" >"$folder/log" || fail "$(tail -n 5 "$folder/log")"
cmake -S "$sources/python" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder/convlab" \
  -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" >"$folder/log" 2>&1 ||
  fail "$(tail -n 20 "$folder/log")"
cmake --build "$folder/build" >"$folder/log" 2>&1 || fail "$(tail -n 20 "$folder/log")"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
cp -r "$sources/python/convlab" "$site"
cmake --install "$folder/build" --component python --prefix "$site/convlab" >"$folder/log" ||
  fail "$(tail -n 5 "$folder/log")"

cd "$sources"  # where kernel files find their headers
"$python" -m pytest -q -rs -p no:cacheprovider python/tests
