#pragma once

/// Stands in for the course's header of this name. The class GPUInterface is declared before the file is read, with the
/// functions that the file itself defines, since their parameters differ from semester to semester.

#include <cuda_runtime.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
