#pragma once

#include "convlab/simt/cuda_on_host.h"
