#pragma once

#include "convlab/simt/cuda/group_reduce.h"
#include "convlab/simt/cuda/groups_on_host.h"
