#pragma once

/// The macros by which a CUDA source knows nvcc, of CUDA 13.0. They are defined in the .cu files of whole programs, not
/// in C++ files or kernel files. __CUDA_ARCH__ is not defined, as host and device code are compiled at once;
/// comparisons with it see __CONVLAB_CUDA_ARCH__, see kernel_file/translation.cc.

#define __NVCC__ 1
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CONVLAB_CUDA_ARCH__ 800
