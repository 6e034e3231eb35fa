# Sourced by .ci/run and .ci/full after .ci/steps.sh: defines what each step does. All run in the repository's root.

# The subjects of commits after this one are checked; older commits predate the rule.
first_checked=663f9b8

# At this commit clang-tidy reported nothing for any file: .ci/run lints what has changed since. After .ci/lint.py has
# passed, a newer commit can be named here.
linted=ad0e2ad6

check_format() {
  sources app bench convlab examples fuzz include library python tests | tr '\n' '\0' | xargs -0 clang-format --dry-run -Werror
}

# At most 120 columns: all lines of C, C++ and CUDA, because clang-format does not break long words and strings, and the
# comments of scripts.
check_columns() {
  local long
  long=$(export LC_ALL=C.UTF-8
    sources app bench convlab examples fuzz include library python tests | xargs -d '\n' grep -nHE '^.{121}' || true
    git ls-files -- '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' .ci run.sh test.sh |
      xargs -d '\n' grep -nHE '^\s*#' | grep -E '^[^:]*:[0-9]+:.{121}' || true)
  [ -z "$long" ] || { printf 'lines of more than 120 columns:\n%s\n' "$long"; return 1; }
}

# check_subjects: subjects of new commits have at most 72 characters and begin with an imperative verb, optionally after
# "room: ".
check_subjects() {
  local wrong
  wrong=$(git log --no-merges --format='%h %s' "$first_checked..HEAD" | awk '
    { subject = substr($0, length($1) + 2); verb = subject; sub(/^[a-z_\/, -]+: /, "", verb); sub(/ .*/, "", verb) }
    length(subject) > 72 { print "longer than 72 characters: " $0 }
    subject ~ /\.$/ { print "ends with a full stop: " $0 }
    verb ~ /(ed|ing|[^su]s)$/ && verb !~ /^(embed|feed|need|seed|speed|bring|string|bias|alias)$/ {
      print "no imperative (" verb "): " $0 }')
  [ -z "$wrong" ] || { printf '%s\n' "$wrong"; return 1; }
}

# build_quietly PRESET TARGET...: builds, and fails if a compiler warned. It does not use -Werror, because then ccache
# could not share results with ./test.sh.
build_quietly() {
  local log="build/$1.log"
  build "$@" 2>&1 | tee "$log"
  ! grep -E '(warning:|warning #)' "$log"
}

build_tests() {
  configure cpu
  set_options cpu CONVLAB_SIMT=ON CONVLAB_INSTRUCTION_SETS=all
  build_quietly cpu
}

check_headers() { build_quietly cpu convlab_headers_alone; }

# simt implements the thread sanitizer's functions itself, so it cannot be built with it. Valgrind checks its threads
# instead.
check_simt_threads() {
  valgrind -q --tool=drd --suppressions=tests/simt_drd.supp --error-exitcode=1 build/cpu/bin/simt_right_test --gtest_brief=1 \
    --gtest_filter='*/1'
}

# One architecture only: everything compiles and links, simt's copies without warnings, and a machine without a GPU gets
# a message.
check_cuda() {
  configure cuda -DCONVLAB_CUDA_ARCHITECTURES=90a -DCONVLAB_TESTS=OFF
  build_quietly cuda convlab
  [ -e /dev/nvidiactl ] && return 0
  local status=0
  build/cuda/bin/convlab run fa19 -n 1 --device cuda || status=$?
  [ "$status" = 3 ]
}

# check_long_tests: fails if a line of tests/long.txt matches no test, or if ctest -E excludes other tests than grep.
# ctest ignores an expression that is too complex for it, such as one with more than nine pairs of parentheses.
check_long_tests() {
  local names patterns pattern left
  names=$(ctest --preset cpu -N | sed -n 's/^ *Test *#[0-9]*: //p')
  patterns=$(grep -v '^#' tests/long.txt)
  while read -r pattern; do
    grep -qE "$pattern" <<<"$names" || { printf 'tests/long.txt: no test is called %s\n' "$pattern"; return 1; }
  done <<<"$patterns"
  pattern=$(paste -sd '|' <<<"$patterns")
  left=$(ctest --preset cpu -N -E "$pattern" | sed -n 's/^Total Tests: //p')
  [ "$left" = "$(grep -cvE "$pattern" <<<"$names")" ] || { printf 'tests/long.txt: ctest leaves %s tests\n' "$left"; return 1; }
}

# Tests with the label "slow" run in .ci/full only.
test_all() {
  local untested  # rooms for which ./test.sh ROOM would select nothing
  untested=$(ctest --preset cpu --print-labels | sed -n 's/^ *room://p' | grep -vxFf - build/cpu/tested_rooms.txt || true)
  [ -z "$untested" ] || { printf 'rooms whose tests have no label of theirs:\n%s\n' "$untested"; return 1; }
  check_long_tests
  with_results "$root/build/cpu/tests.xml" ./test.sh -LE slow
}

# Tests of the layers below the kernels, and the importers on their corpora: code that reads untrusted bytes, manages
# memory or starts threads. .ci/full runs all unit tests.
check_sanitized() {
  configure cpu-asan
  local tests=(base_test base_file_test base_limits_test conv_test dataset_test device_test diagnostics_test image_test
    model_shapes_test tensor_test warps_test)
  local importers=(array idx image mxnet npy npz onnx onnx_external problem tar)
  build cpu-asan "${tests[@]}" "${importers[@]/#/fuzz_}"
  run_tests cpu-asan -R "^(($(IFS='|' && echo "${tests[*]}"))\\.|fuzz\\.($(IFS='|' && echo "${importers[*]}"))\$)"
}

check_sanitized_whole() {
  configure cpu-asan
  run_cmake build/cpu-asan.log -DCONVLAB_INSTRUCTION_SETS=all build/cpu-asan
  build cpu-asan convlab_unit_tests
  run_tests cpu-asan -L unit
}

# Code that threads share.
check_threads() {
  configure cpu-tsan
  build cpu-tsan session_test plan_shared_weights_test engine_in_flight_test ready_model_test device_test library_test
  run_tests cpu-tsan -R '^(session|plan_shared_weights|engine_in_flight|ready_model|device|library)_test\.'
}

# simt for arm64, under qemu: its tests, and whole programs. The translation is that of the build for this machine.
check_arm64() {
  dpkg --print-foreign-architectures | grep -qx arm64 || as_root dpkg --add-architecture arm64
  install_missing cmake/packages-arm64.txt
  local tests=(simt_unit_test simt_right_test simt_fault_test simt_races_test simt_source_test simt_schedule_test
    simt_initialized_test)
  configure arm64
  build arm64 convlab_cuda "${tests[@]}"
  run_tests arm64 -R "^($(IFS='|' && echo "${tests[*]}"))\\."
  tests/tools/arm64_programs.sh
}

# check_fuzz SECONDS: fuzzes all targets, each for an equal part of the time.
check_fuzz() {
  configure fuzz
  build fuzz
  local targets target name found=build/fuzz/found
  targets=(build/fuzz/bin/fuzz_*)
  for target in "${targets[@]}"; do
    name=${target##*/fuzz_}
    [ -d "fuzz/corpus/$name" ] || name=onnx  # plan's inputs
    mkdir -p "$found/$name"
    "$target" -max_total_time=$(($1 / ${#targets[@]})) -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=0 \
      "$found/$name" "fuzz/corpus/$name"
  done
}

check_site() { site/build.sh; }
check_site_in_browser() { tests/tools/check_site.py build/site/html; }

# bare_root RELEASE: runs run.sh and test.sh in a minimal system. Fails if the system cannot be created.
bare_root() { tests/bare_root.sh --with-cache "$1"; }
