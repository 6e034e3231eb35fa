#pragma once

/// The include guards of the CUDA headers that cuda_on_host.h replaces: programs ask for them (helper_cuda.h of
/// NVIDIA's samples declares checkCudaErrors() only if __DRIVER_TYPES_H__ is defined), and CUDA's own headers stay out
/// if a program's -I leads to them.

#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __BUILTIN_TYPES_H__
#define __DEVICE_TYPES_H__
#define __HOST_DEFINES_H__
#define __DRIVER_FUNCTIONS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

/// Calling conventions, which only Windows has.
#define CUDART_CB
#define CUDARTAPI
