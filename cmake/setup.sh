# Sourced by run.sh, test.sh and .ci/run with $root set to the repository: installs missing packages, configures and
# builds. All messages go to standard error. Exit status 3: something is missing and cannot be installed.

say() { printf 'convlab: %s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 3
}

fail_usage() {
  say "$@"
  exit 2
}

# Reads the package names from lists, without comments: all, those that a build requires, and the optional ones.
packages_in() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }
required_in() { sed '/# optional/d' "$@" | packages_in; }
optional_in() { sed '/# optional/!d' "$@" | packages_in; }

# Prints the given packages that are not installed according to dpkg. Suffixes such as in "g++:amd64" are ignored.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | head -n 1)" = installed ] || echo "$package"
  done
}

# wanted_packages LIST...: prints the missing packages of these lists, except optional ones that this release does not
# have.
# shellcheck disable=SC2046  # one word a package is what is wanted
wanted_packages() {
  local package
  missing_packages $(required_in "$@")
  for package in $(missing_packages $(optional_in "$@")); do
    if apt-cache show "$package" >/dev/null 2>&1; then echo "$package"; fi
  done
}

# Runs apt-get as root, with its output in $apt_log.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi >>"$apt_log" 2>&1 </dev/null
}

can_be_root() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null && return 0
  [ -t 0 ] && [ -t 2 ] && sudo -v >&2  # a person can type the password
}

# install_missing LIST...: installs the missing packages of these lists, on Debian and derived systems. Optional
# packages are skipped if the release does not have them or the user may not install them.
install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    return 0  # another system: configuring reports what is missing
  fi
  local missing
  missing=$(wanted_packages "$@" | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  local line="apt-get install --no-install-recommends ${missing% }"
  if ! can_be_root; then
    # shellcheck disable=SC2046
    [ -z "$(missing_packages $(required_in "$@"))" ] ||
      fail "packages are missing, and installing them takes root or sudo. Run this, then try again:
  sudo $line"
    say "parts are left out, for which root would install: ${missing% }"
    return 0
  fi
  say "installing with apt-get: ${missing% }"
  apt_log=$(mktemp)
  local options="-y -qq --no-install-recommends -o DPkg::Lock::Timeout=300"
  # shellcheck disable=SC2086  # both are lists of words
  if ! as_root apt-get install $options $missing; then
    # There are no package lists yet, or they are out of date.
    as_root apt-get update -qq || true
    missing=$(wanted_packages "$@" | tr '\n' ' ')
    # shellcheck disable=SC2086
    if ! as_root apt-get install $options $missing; then
      tail -n 20 "$apt_log" >&2
      rm -f "$apt_log"
      fail "apt-get failed, see above. This is what it was to do:
  $line"
    fi
  fi
  rm -f "$apt_log"
}

# configure PRESET [OPTION...]: runs cmake once with these options. ninja reruns it when a CMake file changes.
configure() {
  local folder="$root/build/$1" log
  # A build folder that was moved or copied would still build the old source folder.
  if [ -f "$folder/build.ninja" ] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    return 0
  fi
  say "configuring build/$1"
  mkdir -p "$root/build"
  log="$folder.log"
  rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
  run_cmake "$log" --preset "$@"
}

# set_options PRESET OPTION=VALUE...: sets options of the configured build folder.
set_options() {
  local folder="$root/build/$1" option
  shift
  for option in "$@"; do
    if ! grep -qE "^${option%%=*}:[A-Z]+=${option#*=}\$" "$folder/CMakeCache.txt"; then
      run_cmake "$folder.log" "${@/#/-D}" "$folder"
      return
    fi
  done
}

# Prints the instruction set that CPU kernels use here, as CONVLAB_INSTRUCTION_SETS names it.
own_instruction_set() {
  if grep -qw avx512bw /proc/cpuinfo 2>/dev/null; then
    echo avx512
  elif grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    echo avx2
  else
    echo all
  fi
}

# run_cmake LOG ARGUMENT...
run_cmake() {
  local log=$1
  shift
  if ! (cd "$root" && cmake "$@") >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    fail "configuring failed, see above. convlab needs these (the names are Debian's and Ubuntu's):
  $(packages_in "$root/cmake/packages.txt" | tr '\n' ' ')"
  fi
}

# build PRESET [TARGET...]: quiet unless a person watches or something fails.
build() {
  local folder="$root/build/$1"
  shift
  if ninja -C "$folder" -n "$@" 2>/dev/null | grep -q 'no work to do'; then return 0; fi
  say "building ${folder#"$root"/}; the first time takes minutes"
  local quiet=
  if [ ! -t 2 ] && ninja --help 2>&1 | grep -q -e --quiet; then quiet=--quiet; fi  # since Ninja 1.11
  # shellcheck disable=SC2086  # empty or one word
  ninja -C "$folder" -j "$(nproc)" $quiet "$@" >&2 </dev/null || fail "the build failed, see above"
}
