#!/usr/bin/env bash
# class_by_slurm.sh CONVLAB [COUNT]: starts a one-node Slurm in a temporary folder and lets it judge COUNT (default 1)
# submissions. The job of the first is canceled while it runs and must be restarted. Exit status 77: SKIPPED, with the
# reason.
set -euo pipefail
convlab=$1 count=${2:-1}
# shellcheck source=tests/tools/one_node_slurm.sh
. "$(dirname "${BASH_SOURCE[0]}")/one_node_slurm.sh"
"$convlab" class --help >/dev/null || skip "convlab class is not built"
start_slurm

# A submission whose job is canceled while it runs. Until then the node's only CPU is busy.
class=$place/class
"$convlab" class new "$class" --assignment fa19
sbatch --parsable --output=/dev/null --wrap 'sleep 5' >/dev/null
for number in $(seq "$count"); do
  "$convlab" class submit "$class" "$class/public/fa19/new-forward.cuh" --as "student $number"
done
cancel_first() {
  local id
  for _ in $(seq 100); do
    id=$(squeue --noheader --states=PENDING --format='%A %j' | sed -n 's/ convlab-.*-1-1$//p')
    [ -z "$id" ] || break
    sleep 0.1
  done
  scancel "$id"
}
cancel_first &
status=0
timeout $((300 + 20 * count)) "$convlab" class work "$class" --until-empty --via slurm 2>"$place/worker" || status=$?
cat "$place/worker"
wait $!
[ $status != 3 ] || skip "nothing can be judged here"
grep -q 'disappeared (CANCELLED' "$place/worker"
for number in $(seq "$count"); do
  "$convlab" class status "$class" "$number" --json "$place/status.json"
  grep -q '"verdict": "PASSED"' "$place/status.json"
done
squeue --noheader --states=all --format=%j | grep -q -- '-1-2$'
