#!/usr/bin/env bash
# Classifies Fashion-MNIST: sets up what is missing, builds, and runs `convlab run ARGUMENTS`.
# Standard output is convlab's alone. Example: ./run.sh fa19 -n 1000
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"
install_missing "$root/cmake/packages.txt"
# For a first result in minutes, what executes the CUDA kernels on the CPU is built for whoever asks for it.
configure cpu -DCONVLAB_SIMT=OFF
[[ " $*" != *"simt"* ]] || turn_on cpu CONVLAB_SIMT
build cpu convlab
exec "$root/build/cpu/bin/convlab" run "$@"
