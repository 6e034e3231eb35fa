#!/usr/bin/env bash
# install_test.sh BUILD SOURCES: installs convlab into a folder of its own, and builds and runs programs with what is
# there.
set -euo pipefail
build=$(realpath "$1") sources=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "install: $*" >&2
  exit 1
}

export CMAKE_GENERATOR=Ninja  # a bare machine has no make
cmake --install "$build" --prefix "$folder/convlab" >"$folder/log" || fail "$(tail -n 5 "$folder/log")"
mv "$folder/convlab" "$folder/moved"  # nothing may remember where it was installed
root=$folder/moved
cd "$folder"

# The examples find the package by CMake.
cmake -S "$sources/examples" -B examples -DCMAKE_PREFIX_PATH="$root" >log || fail "$(tail -n 20 log)"
cmake --build examples >log || fail "$(tail -n 20 log)"
examples/classify_c fa19 cpu >c.txt
examples/classify_cpp fa19 cpu >cpp.txt
cmp c.txt cpp.txt || fail "the examples in C and in C++ differ"
[ "$(wc -l <c.txt)" = 10 ] || fail "fa19 has 10 classes; there are $(wc -l <c.txt) lines"
awk '{ sum += $1 } END { exit !(sum > 0.999 && sum < 1.001) }' c.txt || fail "the scores do not add up to 1: $(cat c.txt)"

examples/steps fa19 cpu >steps.txt
grep -q '^input data, sizes: -1 1 70 70$' steps.txt || fail "steps does not tell the input: $(cat steps.txt)"
grep -q '^plan: .*"kernel":' steps.txt || fail "steps tells no plan: $(cat steps.txt)"
grep -q '^profile: .*"seconds":' steps.txt || fail "steps tells no profile: $(cat steps.txt)"
examples/side_by_side sp25 3 | grep -qE '^3 threads: [0-9]+ images/s$' || fail "sessions for three threads do not give the same"
if [ -e examples/gpu_stream ]; then
  status=0
  examples/gpu_stream fa19 >gpu.txt 2>log || status=$?
  case $status in
    0) [ "$(wc -l <gpu.txt)" = 10 ] || fail "gpu_stream does not give 10 scores: $(cat gpu.txt)" ;;
    3) ;;  # there is no GPU
    *) fail "gpu_stream exits with $status: $(cat log)" ;;
  esac
fi

# A version of another second number is refused.
mkdir other
printf 'cmake_minimum_required(VERSION 3.22)\nproject(other LANGUAGES CXX)\nfind_package(convlab 0.2 REQUIRED)\n' >other/CMakeLists.txt
! cmake -S other -B other/build -DCMAKE_PREFIX_PATH="$root" >log 2>&1 || fail "CMake takes 0.1 for 0.2"
grep -q "0.2" log || fail "CMake refuses for another reason: $(tail -n 5 log)"

# A project may have convlab's sources as a part of its own, or fetch them.
mkdir part
cat >part/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.22)
project(part LANGUAGES C CXX)
add_subdirectory("$sources" convlab EXCLUDE_FROM_ALL)
add_executable(classify "$sources/examples/c/classify.c")
target_link_libraries(classify PRIVATE convlab::convlab)
END
cmake -S part -B part/build >log 2>&1 || fail "$(tail -n 20 log)"
ninja -C part/build -t commands classify >log || fail "a project that has convlab as a part would not build: $(tail -n 5 log)"
grep -q "libconvlab.so" log || fail "a project that has convlab as a part does not link it"
! grep -q "_test" log || fail "a project that has convlab as a part builds its tests"

# And by pkg-config, where it is.
if command -v pkg-config >/dev/null; then
  read -ra flags < <(PKG_CONFIG_PATH=$(dirname "$(find "$root" -name convlab.pc)") pkg-config --cflags --libs convlab)
  cc -std=c99 -Wall -Wextra -Werror "$sources/examples/c/classify.c" "${flags[@]}" -o classify
  LD_LIBRARY_PATH=$(dirname "$(find "$root" -name libconvlab.so)") ./classify fa19 cpu >pc.txt
  cmp c.txt pc.txt || fail "the program that pkg-config's flags made gives something else"
fi

# Whatever calls C can call it.
if command -v python3 >/dev/null; then
  python3 "$sources/examples/python/classify.py" "$(find "$root" -name libconvlab.so)" fa19 cpu >python.txt
  cmp c.txt python.txt || fail "the example in Python gives something else"
fi

# The manual and the shells know every command.
commands=$("$root/bin/convlab" --help | awk '/^Subcommands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
[ "$(wc -w <<<"$commands")" -gt 15 ] || fail "--help names few commands: $commands"
for command in $commands; do
  for file in man/man1/convlab.1 bash-completion/completions/convlab zsh/site-functions/_convlab fish/vendor_completions.d/convlab.fish; do
    grep -qF "$command" "$root/share/$file" || fail "$file does not know $command"
  done
done
# shellcheck source=/dev/null
completed=$(
  source "$root/share/bash-completion/completions/convlab"
  COMP_WORDS=(convlab infer --math b) COMP_CWORD=3
  _convlab
  echo "${COMPREPLY[*]}"
)
[ "$completed" = "bf16x2 bf16" ] || fail "bash completes 'convlab infer --math b' to '$completed'"
! command -v zsh >/dev/null || zsh -n "$root/share/zsh/site-functions/_convlab" || fail "zsh does not take its completion"
! command -v fish >/dev/null || fish -n "$root/share/fish/vendor_completions.d/convlab.fish" || fail "fish does not take its completion"

# Kernel files of both kinds are written and verified, far from the sources.
for kind in mxnet own; do
  (cd / && "$root/bin/convlab" new $kind -o "$folder/$kind.cu" && "$root/bin/convlab" verify "$folder/$kind.cu" --device simt) >log 2>&1 ||
    [ $? = 3 ] || fail "the installed program does not verify a kernel file of kind $kind: $(tail -n 5 log)"
done

# A whole CUDA program links the installed library.
if [ -e "$root/lib/convlab/libconvlab-cuda.so" ]; then
  cp "$sources/examples/programs/vecadd.cu" .
  (cd / && "$root/bin/convlab" cuda run "$folder/vecadd.cu" -- 1024) >log 2>&1 || fail "a CUDA program does not run: $(cat log)"
  grep -q "^c\[1023\] = 3" log || fail "a CUDA program prints something else: $(cat log)"
fi

# The program finds its models, and the library exports one name.
"$root/bin/convlab" list models >models.txt
grep -q fa19 models.txt || fail "the installed program does not find its models"
names=$(nm -D --defined-only "$(find "$root" -name 'libconvlab.so')" | awk '{ print $3 }')
[ "$names" = convlab_get_api ] || fail "the library exports: $names"

# Nothing that a package would have says where it was built.
cmake --install "$build" --strip --prefix "$folder/stripped" >log || fail "$(tail -n 5 log)"
named=$(grep -rlF "$sources" stripped || true)
[ -z "$named" ] || fail "these name the sources' folder: $named"
echo "install: the examples, pkg-config's and the installed program work"
