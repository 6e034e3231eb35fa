#pragma once

#include "convlab/simt/cuda/groups_on_host.h"
