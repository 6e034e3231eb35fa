#pragma once

/// Replaces <cooperative_groups.h> when a host compiler reads a kernel's file.

#include "convlab/simt/cuda/cuda_on_host.h"
#include "convlab/simt/cuda/grid_groups.h"
#include "convlab/simt/cuda/group_invoke.h"
#include "convlab/simt/cuda/group_partitions.h"
#include "convlab/simt/cuda/thread_groups.h"
