#!/usr/bin/env bash
# shards_by_launcher.sh CONVLAB mpirun|srun [COPIES]: four processes classify COPIES (default 3) copies of the test
# images, and must get as many right as one process. Then one of the four is killed while running; the next launch
# computes its shard, and the counts must be the same. srun runs in a one-node Slurm. Exit status 77: SKIPPED, with the
# reason.
set -euo pipefail
convlab=$(realpath "$1") launcher=$2 copies=${3:-3}
# shellcheck source=tests/tools/one_node_slurm.sh
. "$(dirname "$0")/one_node_slurm.sh"
if [ "$launcher" = srun ]; then
  start_slurm
  launch=(srun --ntasks=4 --overcommit)
else
  command -v mpirun >/dev/null || skip "mpirun is not there (Debian: openmpi-bin)"
  launch=(mpirun -n 4 --oversubscribe)
  [ "$(id -u)" != 0 ] || launch+=(--allow-run-as-root)
fi
cd "$place"
run=("$convlab" run fa19 --device cpu --threads 1 --copies "$copies")

fail() {
  echo "FAILED: $*"
  exit 1
}
member() { sed -n "s/^  \"$2\": \([0-9]*\),\$/\1/p" "$1"; }
require_counts() {
  [ -f "$1" ] || fail "$1 is not there"
  for name in images right; do
    [ "$(member "$1" $name)" = "$(member one.json $name)" ] || fail "$1 has $(member "$1" $name) $name, one process $(member one.json $name)"
  done
}

"${run[@]}" --json one.json >/dev/null
"${launch[@]}" "${run[@]}" --json all.json >output
require_counts all.json
[ "$(grep -c 'New Inference' output)" = 1 ] || fail "more than one process prints"

# Process 2 is killed once another one is done: srun lets the others continue, mpirun ends them.
cat >killed.sh <<'SCRIPT'
rank=${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}
[ "$rank" = 2 ] || exec "$@"
until [ -e some.0-of-4.json ]; do sleep 0.1; done
exec timeout --signal=KILL 0.3 "$@"
SCRIPT
! "${launch[@]}" bash killed.sh "${run[@]}" --json some.json >output 2>&1 || fail "nobody notices that a process was killed"
[ ! -e some.json ] || fail "the Record of all is there, though a process was killed"
[ ! -e some.2-of-4.json ] || fail "the killed process wrote its Record"
there=$(find . -name 'some.*-of-4.json' | wc -l)
! "$convlab" merge some.*-of-4.json 2>complaint || fail "a share that is missing is not missed"
grep -q 2/4 complaint || fail "which share is missing is not said: $(cat complaint)"

"${launch[@]}" "${run[@]}" --json some.json --resume >output 2>notes
require_counts some.json
[ "$(grep -c 'already computed' notes)" = "$there" ] || fail "$there shares were there: $(cat notes)"
"$convlab" merge some.*-of-4.json --json merged.json >/dev/null
require_counts merged.json
echo "$(member one.json right) of $(member one.json images) images are right, by one process and by four; $there of 4 shares outlived a kill"
