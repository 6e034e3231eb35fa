# Sourced by tests that need a one-node Slurm. All of it is in a temporary folder, $place, which is removed at exit.
# Exit status 77: SKIPPED, with the reason.
skip() {
  echo "SKIPPED: $*"
  exit 77
}

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

start_slurm() {
  for program in munged slurmctld slurmd sbatch; do
    command -v $program >/dev/null || skip "$program is not there (Debian: slurm-wlm, munge)"
  done
  local host port
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
}
