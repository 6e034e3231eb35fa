#!/usr/bin/env bash
# Classifies Fashion-MNIST: sets up what is missing, builds, and runs `convlab run ARGUMENTS`.
# Standard output is convlab's alone. Example: ./run.sh fa19 -n 1000
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"
install_missing "$root/cmake/packages.txt"
# For a first result in minutes: the CPU kernels are compiled for this processor, and what executes the CUDA kernels on
# the CPU is built for whoever asks for it.
set=$(own_instruction_set)
configure cpu -DCONVLAB_SIMT=OFF "-DCONVLAB_INSTRUCTION_SETS=$set"
# The folder may have come from another machine.
grep -qx "CONVLAB_INSTRUCTION_SETS:STRING=all" "$root/build/cpu/CMakeCache.txt" ||
  set_options cpu "CONVLAB_INSTRUCTION_SETS=$set"
[[ " $*" != *"simt"* ]] || set_options cpu CONVLAB_SIMT=ON
build cpu convlab
exec "$root/build/cpu/bin/convlab" run "$@"
