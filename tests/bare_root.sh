#!/usr/bin/env bash
# bare_root.sh [RELEASE]: proves run.sh and test.sh in a bare Debian, bookworm (12, the default) or trixie (13). A root
# from debootstrap, with only the base system, gets a copy of this repository (tracked files only, in a folder whose
# name has a space) and runs ./run.sh, ./test.sh, and ./run.sh again without a network. Prints the seconds of each.
# Takes about 15 minutes, 4 GB under $TMPDIR and root; where it cannot work it says SKIPPED and exits with 77.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

release=${1:-bookworm}

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
clean_up() {
  umount "$bare/proc" 2>/dev/null || true
  if mountpoint -q "$bare/proc"; then
    echo "$bare/proc is still mounted; $bare stays" >&2
  else
    rm -rf --one-file-system "$bare"
  fi
}
trap clean_up EXIT

began=$SECONDS
# timed NAME COMMAND...: runs it, then prints its seconds.
timed() {
  local name=$1 start=$SECONDS
  shift
  "$@"
  echo "== $name: $((SECONDS - start)) s"
}

# inside [--offline] COMMAND: in the bare root, in the copy of the repository.
inside() {
  local wall=()
  if [ "$1" = --offline ]; then
    wall=(unshare --net)
    shift
  fi
  "${wall[@]}" chroot "$bare" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI=true \
    /bin/bash -c "cd '/srv/a copy/convlab' && $1"
}

# classify [--offline]: run.sh; its output must hold the course's lines.
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
timed "debootstrap of $release from $mirror" make_root
mount -t proc proc "$bare/proc"
cp /etc/resolv.conf /etc/hosts "$bare/etc/"
mkdir -p "$bare/srv/a copy/convlab"
git -C "$repository" ls-files -z | tar -C "$repository" --null --files-from=- -cf - | tar -C "$bare/srv/a copy/convlab" -xf -

commands=$SECONDS
timed "first ./run.sh" classify
timed "./test.sh" inside ./test.sh
echo "== both, from a bare system: $((SECONDS - commands)) s"
timed "second ./run.sh, without a network" classify --offline
echo "PASSED in $((SECONDS - began)) s"
