#!/usr/bin/env bash
# class_by_slurm.sh CONVLAB [COUNT]: starts a Slurm of one node, all of it in a temporary folder, and has COUNT (default 1)
# submissions judged by it; the first's job is cancelled on its way and must begin again. Exit status 77: SKIPPED, with the reason.
set -euo pipefail
convlab=$1 count=${2:-1}
skip() {
  echo "SKIPPED: $*"
  exit 77
}
for program in munged slurmctld slurmd sbatch; do
  command -v $program >/dev/null || skip "$program is not there (Debian: slurm-wlm, munge)"
done
"$convlab" class --help >/dev/null || skip "convlab class is not built"

place=$(mktemp -d)
chmod 755 "$place"
finish() {
  for program in slurmd slurmctld munged; do
    [ ! -s "$place/$program.pid" ] || kill "$(cat "$place/$program.pid")" 2>/dev/null || true
  done
  sleep 1
  rm -rf "$place"
}
trap finish EXIT

host=$(hostname -s)
port=$((20000 + RANDOM % 20000))
mkdir "$place/state" "$place/spool"
(umask 077 && head -c 128 /dev/urandom >"$place/munge.key")
cat >"$place/slurm.conf" <<CONF
ClusterName=convlab
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$place/munge.socket
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdLogFile=$place/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=1 RealMemory=8000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
export SLURM_CONF=$place/slurm.conf
munged --force --key-file="$place/munge.key" --socket="$place/munge.socket" --pid-file="$place/munged.pid" \
  --log-file="$place/munged.log" --seed-file="$place/munged.seed" 2>"$place/munged.out" || skip "munged does not start: $(cat "$place/munged.out")"
slurmctld 2>"$place/ctld.out" || skip "slurmctld does not start: $(cat "$place/ctld.out")"
slurmd -N "$host" 2>"$place/d.out" || skip "slurmd does not start: $(cat "$place/d.out")"
for _ in $(seq 60); do
  ! sinfo --noheader --format=%T 2>/dev/null | grep -q idle || break
  sleep 0.5
done
sinfo --noheader --format=%T | grep -q idle || skip "the node does not become idle"

# A submission whose job somebody cancels while it runs: the node's only processor is busy until then.
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
grep -q 'has vanished (CANCELLED' "$place/worker"
for number in $(seq "$count"); do
  "$convlab" class status "$class" "$number" --json "$place/status.json"
  grep -q '"verdict": "PASSED"' "$place/status.json"
done
squeue --noheader --states=all --format=%j | grep -q -- '-1-2$'
