#!/usr/bin/env bash
# bare_root.sh [--user] [--with-cache] [RELEASE]: proves run.sh and test.sh in a bare Debian, bookworm (12, the default)
# or trixie (13). A root from debootstrap, with only the base system, gets a copy of this repository (tracked files
# only, in a folder whose name has a space) and runs ./run.sh, writes and judges a kernel file, runs ./test.sh, ./run.sh
# again without a network, and ./run.sh in a copy of the whole folder. Prints the wall and CPU seconds of each. With
# --user a user with sudo does it, not root. With --with-cache the root has this machine's cache of compilers' results,
# so that what was compiled before is not again; without it nothing is there. Takes 20 to 60 minutes, 5 GB under $TMPDIR
# and root; where it cannot work it says SKIPPED and exits with 77.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

release=bookworm
user=root
cache=
for argument in "$@"; do
  case $argument in
    --user) user=student ;;
    --with-cache) cache=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache} ;;
    -*)
      echo "bare_root.sh: $argument is not known; see the head of this file" >&2
      exit 2
      ;;
    *) release=$argument ;;
  esac
done

skip() {
  echo "SKIPPED: $*"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "making a root takes root"
for tool in debootstrap chroot unshare git tar; do
  command -v "$tool" >/dev/null || skip "there is no $tool; install Debian's package of that name"
done

# The mirror that this machine itself uses: the first Debian one of either format of apt's sources.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  grep -oE '^(deb|URIs:) .*' | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
mirror=${mirror:-http://deb.debian.org/debian}

bare=$(mktemp -d "${TMPDIR:-/tmp}/convlab-bare.XXXXXX")
chmod 755 "$bare"
clean_up() {
  local folder
  for folder in "$bare/proc" "$bare/srv/ccache"; do
    umount "$folder" 2>/dev/null || true
    if mountpoint -q "$folder"; then
      echo "$folder is still mounted; $bare stays" >&2
      return
    fi
  done
  rm -rf --one-file-system "$bare"
}
trap clean_up EXIT

began=$SECONDS
# timed NAME COMMAND...: runs it, then prints its seconds.
timed() {
  local TIMEFORMAT="== $1: %R s, of a CPU %U + %S s"
  shift
  time "$@"
}

# inside [--offline] [--in FOLDER] COMMAND: in the bare root, in the copy of the repository, as the chosen user.
inside() {
  local wall=() folder='a copy/convlab' home=/root
  [ "$user" = root ] || home=/home/$user
  if [ "$1" = --offline ]; then
    wall=(unshare --net)
    shift
  fi
  if [ "$1" = --in ]; then
    folder=$2
    shift 2
  fi
  "${wall[@]}" chroot --userspec="$user" "$bare" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=$home USER="$user" \
    LANG=C.UTF-8 CI=true ${cache:+CCACHE_DIR=/srv/ccache} /bin/bash -c "cd '/srv/$folder' && $1"
}

# classify [--offline] [--in FOLDER]: run.sh; its output must hold the course's lines.
classify() {
  inside "$@" ./run.sh | tee "$bare/tmp/output"
  grep -qE '^Correctness: 0\.[0-9]+ Model: ece408$' "$bare/tmp/output" || {
    echo "FAILED: ./run.sh did not print the course's lines"
    exit 1
  }
}

make_root() {
  debootstrap --variant=minbase "$release" "$bare" "$mirror" >"$bare/log" 2>&1 || {
    tail -n 5 "$bare/log"
    skip "debootstrap of $release from $mirror failed, see above"
  }
}

add_user() {
  chroot "$bare" /bin/bash -c "apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo >/dev/null &&
    useradd --create-home $user && echo '$user ALL=(ALL) NOPASSWD:ALL' >/etc/sudoers.d/$user && chown -R $user: /srv"
}

# A student's path, outside of the repository: a kernel file, an edit, its verdict, the course's script, the report.
write_a_kernel() {
  local convlab="'/srv/a copy/convlab/build/cpu/bin/convlab'"
  inside "./run.sh fa19 -n 10 --device simt" >/dev/null
  timed "convlab new" inside --in . "$convlab new mxnet -o new-forward.cuh"
  inside --in . "sed -i 's/TILE_WIDTH 16/TILE_WIDTH 8/' new-forward.cuh"
  timed "convlab verify" inside --in . "$convlab verify new-forward.cuh"
  timed "convlab m3.1 100" inside --in . "$convlab m3.1 100 --device simt --kernel new-forward.cuh --json m3.1.json"
  timed "convlab report" inside --in . "$convlab report -o report.html --from m3.1.json" | grep -c present
  grep -q new-forward.cuh "$bare/srv/report.html"
}

timed "debootstrap of $release from $mirror" make_root
mount -t proc proc "$bare/proc"
cp /etc/resolv.conf /etc/hosts "$bare/etc/"
mkdir -p "$bare/srv/a copy/convlab"
git -C "$repository" ls-files -z | tar -C "$repository" --null --files-from=- -cf - | tar -C "$bare/srv/a copy/convlab" -xf -
if [ "$cache" ]; then
  mkdir -p "$bare/srv/ccache" "$cache"
  mount --bind "$cache" "$bare/srv/ccache"
fi
[ "$user" = root ] || timed "a user with sudo" add_user

timed "first ./run.sh" classify
timed "building simt, and a student's path" write_a_kernel
timed "./test.sh" inside ./test.sh
timed "second ./run.sh, without a network" classify --offline
inside --in . 'cp -r "a copy" another'
timed "./run.sh in a copy of the folder, without a network" classify --offline --in another/convlab
echo "PASSED in $((SECONDS - began)) s"
