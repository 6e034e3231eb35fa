# Finds CUDA if requested: sets CONVLAB_CUDA_FOUND and the options that compile a CUDA source.

set(CONVLAB_CUDA AUTO CACHE STRING "AUTO: kernels for GPUs where a driver and nvcc are present; ON; OFF")
set_property(CACHE CONVLAB_CUDA PROPERTY STRINGS AUTO ON OFF)
set(CONVLAB_CUDA_ARCHITECTURES "" CACHE STRING
  "Compute capabilities to build for, as 80;90a; empty: all of 80 86 89 90a 100 that nvcc knows")

set(CONVLAB_CUDA_FOUND OFF)
set(CONVLAB_CUPTI_INCLUDE_DIR "")
set(CONVLAB_CUDNN_INCLUDE_DIR "")
set(CONVLAB_CUBLAS_INCLUDE_DIR "")
set(wanted ${CONVLAB_CUDA})
if(CONVLAB_CUDA STREQUAL AUTO)
  set(wanted OFF)
  if(EXISTS /proc/driver/nvidia/version OR EXISTS /dev/nvidiactl)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      set(wanted ON)
    endif()
  endif()
endif()
if(NOT wanted)
  return()
endif()

# CMake must not add architectures of its own: the flags below name them.
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)  # the first with C++20
  set(too_old "nvcc is of CUDA ${CMAKE_CUDA_COMPILER_VERSION}, and the kernels need 12 or later")
  if(CONVLAB_CUDA STREQUAL AUTO)
    message(STATUS "${too_old}: there will be no --device cuda")
    return()
  endif()
  message(FATAL_ERROR "${too_old}; name another one with -DCMAKE_CUDA_COMPILER=PATH")
endif()
find_package(CUDAToolkit REQUIRED)
set(CONVLAB_CUDA_FOUND ON)
# Only CUPTI's headers, if installed: the program loads the library when it needs it.
unset(CONVLAB_CUPTI_INCLUDE_DIR)
find_path(CONVLAB_CUPTI_INCLUDE_DIR cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
  ${CUDAToolkit_TARGET_DIR}/extras/CUPTI/include ${CUDAToolkit_INCLUDE_DIRS}/../extras/CUPTI/include)
if(CONVLAB_CUPTI_INCLUDE_DIR)
  # Older versions have other record types and other version numbers.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${CONVLAB_CUPTI_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  check_cxx_source_compiles("#include <cupti.h>
    static_assert(CUPTI_API_VERSION >= 130000);
    CUpti_ActivityKernel10 kernel;
    CUpti_ActivityMemcpy6 copy;
    CUpti_ActivityMemset4 fill;
    int main() {}" CONVLAB_CUPTI_FITS)
  unset(CMAKE_REQUIRED_INCLUDES)
endif()
if(NOT CONVLAB_CUPTI_INCLUDE_DIR OR NOT CONVLAB_CUPTI_FITS)
  set(CONVLAB_CUPTI_INCLUDE_DIR "")
  message(STATUS "CUPTI's headers of CUDA 13 are not there: convlab profile cannot see what a GPU does")
endif()
unset(CONVLAB_CUDNN_INCLUDE_DIR)
find_path(CONVLAB_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NOT CONVLAB_CUDNN_INCLUDE_DIR)
  message(STATUS "cudnn.h is not there: the kernels cudnn, cudnn.tf32 and cudnn.fp16 are left out")
endif()
unset(CONVLAB_CUBLAS_INCLUDE_DIR)
find_path(CONVLAB_CUBLAS_INCLUDE_DIR cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NOT CONVLAB_CUBLAS_INCLUDE_DIR)
  message(STATUS "cublas_v2.h is not there: the kernel cuda.cublas_gemm is left out")
endif()
# CMake 3.25 has no flag for C++20 with nvcc 13; cuda_compat.h asserts that it took effect.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
if(NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

if(NOT CONVLAB_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known)
  foreach(architecture IN ITEMS 80 86 89 90a 100)
    string(REGEX REPLACE "[a-z]" "" number ${architecture})
    if(known MATCHES "compute_${number}")
      list(APPEND CONVLAB_CUDA_ARCHITECTURES ${architecture})
    endif()
  endforeach()
endif()
list(JOIN CONVLAB_CUDA_ARCHITECTURES "," CONVLAB_CUDA_ARCHITECTURE_TEXT)
message(STATUS "CUDA ${CUDAToolkit_VERSION} for compute capability ${CONVLAB_CUDA_ARCHITECTURE_TEXT}")

# fmt 9 assumes that nvcc's front end lacks constexpr, and then does not compile.
set(CONVLAB_CUDA_OPTIONS --expt-relaxed-constexpr -Wno-deprecated-gpu-targets -DFMT_USE_CONSTEXPR=1)
foreach(architecture IN LISTS CONVLAB_CUDA_ARCHITECTURES)
  list(APPEND CONVLAB_CUDA_OPTIONS "SHELL:-gencode arch=compute_${architecture},code=sm_${architecture}")
endforeach()
# From the lowest architecture's PTX, the driver can compile for GPUs newer than this list.
list(GET CONVLAB_CUDA_ARCHITECTURES 0 lowest)
if(NOT lowest MATCHES "a$")
  list(APPEND CONVLAB_CUDA_OPTIONS "SHELL:-gencode arch=compute_${lowest},code=compute_${lowest}")
endif()
if(CONVLAB_WERROR)
  list(APPEND CONVLAB_CUDA_OPTIONS -Werror=all-warnings)
endif()
target_compile_options(convlab_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${CONVLAB_CUDA_OPTIONS}>")
