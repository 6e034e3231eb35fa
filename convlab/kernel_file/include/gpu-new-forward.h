#pragma once

/// Replaces the course's header of this name. The class GPUInterface is declared before the file, with the functions
/// that the file defines, because their parameters differ between semesters.

#include <cuda_runtime.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
