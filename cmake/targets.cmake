# Settings shared by all targets: language, warnings and sanitizers, and functions that declare a layer, a kernel and a
# test.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # all code is also linked into a shared library, see library/
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

# ccache keeps compilation results in the user's cache (CCACHE_DIR, or ~/.cache/ccache), where they outlive a checkout.
# Paths are compared relative to the root, so another checkout or a build in a container also finds them.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache caches nothing that uses precompiled headers, which it compares by content. The
  # language of messages does not matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime,locale ${CCACHE_PROGRAM})
endif()

# The layers, lowest first. A layer includes only itself and earlier ones; tests/layers_test.cc reads this line.
set(CONVLAB_LAYERS base diagnostics tensor conv warps simt simt/cuda simt/ptx simt/program device dataset image model model/ops
  model/onnx model/onnx/ops model/onnx/reading model/onnx/writing model/formats
  kernels kernels/cpu/simd kernels/cpu/nchw kernels/cpu/gemm kernels/cpu/nchw16n kernels/cpu/nchw16n2c_bf16
  kernels/ops kernels/ops/elementwise kernels/ops/along kernels/ops/rearrange kernels/ops/windows kernels/ops/quantized
  kernels/cpu/nchw8c kernels/cpu/nhwc_int8 kernels/cpu/nhwc_bf16
  kernels/ladder kernels/cuda/dense kernels/cuda/first_layer kernels/cuda/deep_layer kernels/cuda/nchw_hopper kernels/cuda/nhwc kernels/libraries
  kernel_file rewrite plan engine verify verify/ops measure session profile predict evidence report judge classroom/storage classroom classroom/web)

add_library(convlab_options INTERFACE)
target_include_directories(convlab_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(convlab_options INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>"  # for ccache
  # Collecting garbage below 512 MB would take 15 % of the compile time.
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=524288>"
  "$<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>"  # allows inlining: nothing replaces our functions
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wno-missing-field-initializers>"
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CONVLAB_WERROR}>>:-Werror>")
if(CONVLAB_SANITIZE)
  # The excluded checks are also covered by AddressSanitizer or the CPU, and would take half of the compile time.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CONVLAB_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,object-size,vptr>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer> -g1)
  # GCC warns about the sanitizers' own code.
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized;-Wno-array-bounds>"
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict>")
  add_link_options(-fsanitize=${CONVLAB_SANITIZE})
endif()

if(CONVLAB_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CONVLAB_FUZZ needs clang: use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)  # counts branches in all code; only the targets link the fuzzer
endif()

# Headers that nearly every file includes, compiled once: they are half of a small file's compile time.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cc CONTENT "" @ONLY)
# convlab_precompiled_headers(NAME [HEADERS header...] [DEPENDS target...])
function(convlab_precompiled_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPENDS" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(${name} PRIVATE convlab_options fmt::fmt ${ARG_DEPENDS})
  target_precompile_headers(${name} PRIVATE <fmt/format.h> <algorithm> <array> <atomic> <bit> <cmath> <cstdint> <cstring>
    <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view>
    <tuple> <utility> <variant> <vector> ${ARG_HEADERS})
endfunction()
set(intrinsics "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(intrinsics <immintrin.h>)
endif()
convlab_precompiled_headers(convlab_precompiled HEADERS ${intrinsics})

# For code whose compile time exceeds its run time: it reads files and prints tables.
add_library(convlab_cold_options INTERFACE)
target_compile_options(convlab_cold_options INTERFACE "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>")
convlab_precompiled_headers(convlab_cold_precompiled DEPENDS convlab_cold_options)
if(CONVLAB_TESTS)
  convlab_precompiled_headers(convlab_tests_precompiled DEPENDS convlab_cold_options GTest::gmock
    HEADERS <gmock/gmock.h> <gtest/gtest.h> <filesystem> <fstream> <map> <regex> <sstream>)
  # Programs and libraries have different flags, and a precompiled header is only used with its own.
  set_target_properties(convlab_tests_precompiled PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endif()

# Everything that an executable of the project links: all layers, and the kernels' object files. Kernels register
# themselves; from an archive the linker would take none of them, because nothing refers to them.
add_library(convlab_layers INTERFACE)
add_library(convlab_all INTERFACE)
target_link_libraries(convlab_all INTERFACE convlab_layers)

# convlab_unity(TARGET): compiles several files at a time, so that headers are parsed and templates instantiated once.
# This halves a small file's compile time. File-scope names must be unique within a library.
function(convlab_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CONVLAB_UNITY} UNITY_BUILD_BATCH_SIZE 32)
  if(CONVLAB_UNITY)
    # GCC mistakes a file's own types for types of a header.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
  endif()
endfunction()

# convlab_layer(NAME SOURCES file... DEPENDS target... [COLD] [ALONE] [CUDA]): the library of one folder under convlab/;
# kernels/ops becomes convlab_kernels_ops. COLD: compiled with convlab_cold_options. ALONE: files are compiled
# separately, as Highway requires, whose files include themselves once per instruction set. CUDA: calls the CUDA runtime
# if CUDA is built; only the layer itself sees CUDA's headers, so others compile to the same code with and without CUDA.
function(convlab_layer folder)
  cmake_parse_arguments(ARG "COLD;ALONE;CUDA" "" "SOURCES;DEPENDS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  add_library(convlab_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(convlab_${name} PUBLIC convlab_options ${ARG_DEPENDS})
  if(ARG_CUDA AND CONVLAB_CUDA_FOUND)
    target_link_libraries(convlab_${name} PRIVATE CUDA::cudart_static)
  endif()
  if(ARG_COLD)
    target_link_libraries(convlab_${name} PRIVATE convlab_cold_options)
    target_precompile_headers(convlab_${name} REUSE_FROM convlab_cold_precompiled)
  else()
    target_precompile_headers(convlab_${name} REUSE_FROM convlab_precompiled)
  endif()
  if(NOT ARG_ALONE)
    convlab_unity(convlab_${name})
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With a precompiled header, GCC reports variables inside its intrinsics as uninitialized.
    target_compile_options(convlab_${name} PRIVATE -Wno-maybe-uninitialized)
  endif()
  target_link_libraries(convlab_layers INTERFACE convlab_${name})
endfunction()

# convlab_kernel(FILE [DEPENDS target...] [OPTIONS flag...]): one kernel or operator in one file. The host compiler
# compiles a folder's .cc files together. nvcc compiles a .cu file if CUDA is present, and the host compiler compiles it
# for simt, unless the file requires a specific GPU (GPU_ONLY).
function(convlab_kernel file)
  cmake_parse_arguments(ARG "GPU_ONLY" "" "DEPENDS;OPTIONS" ${ARGN})
  if(NOT file MATCHES "\\.cu$")
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/convlab ${CMAKE_CURRENT_SOURCE_DIR})
    string(REPLACE "/" "_" target convlab_host_${folder})
    convlab_kernel_object(${target} ${file} host)
    # Kernels contain their file name. The program must not contain the path of the folder in which it was built.
    target_compile_options(${target} PRIVATE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
    target_precompile_headers(${target} REUSE_FROM convlab_precompiled)
    convlab_unity(${target})
    return()
  endif()
  get_filename_component(stem ${file} NAME_WE)
  if(CONVLAB_CUDA_FOUND)
    convlab_kernel_object(convlab_kernel_${stem} ${file} cuda)
  endif()
  if(CONVLAB_SIMT AND NOT ARG_GPU_ONLY)
    convlab_simt_sources(host_source ${file})
    convlab_kernel_object(convlab_kernel_${stem}_simt ${host_source} simt)
    convlab_simt_kernel(convlab_kernel_${stem}_simt)
  endif()
endfunction()

# convlab_kernels(): all kernels of a folder in which none needs options: its files cpu_*.cc and cuda_*.cu.
function(convlab_kernels)
  file(GLOB files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS cpu_*.cc cuda_*.cu)
  foreach(file IN LISTS files)
    convlab_kernel(${file})
  endforeach()
endfunction()

# Adds a compilation of a kernel to an object library; uses file, ARG_DEPENDS and ARG_OPTIONS from convlab_kernel. The
# property CONVLAB_KERNELS collects "FILE:VARIANT" for tests/kernels/registry_test.cc.
macro(convlab_kernel_object target source variant)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_property(GLOBAL APPEND PROPERTY CONVLAB_KERNELS "${path}:${variant}")
  if(NOT TARGET ${target})
    add_library(${target} OBJECT)
    target_link_libraries(${target} PRIVATE convlab_options convlab_kernels)
    target_sources(convlab_all INTERFACE $<TARGET_OBJECTS:${target}>)
  endif()
  target_sources(${target} PRIVATE ${source})
  target_link_libraries(${target} PRIVATE ${ARG_DEPENDS})
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  target_link_libraries(convlab_all INTERFACE ${ARG_DEPENDS})
endmacro()

# convlab_shared(NAME TARGETS target... LINK target...): a shared library of these targets' objects, for the tests.
# After an edit only this library is linked again; with archives, some seventy test programs would be linked in full.
function(convlab_shared name)
  cmake_parse_arguments(ARG "" "" "TARGETS;LINK" ${ARGN})
  add_library(${name} SHARED)
  # Shipped files are searched upward from the file that contains convlab's code.
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  foreach(target IN LISTS ARG_TARGETS)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${target}>)
  endforeach()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ${ARG_TARGETS})
  # Tests compile as if they linked the targets, but link none of their archives, so each symbol has one definition.
  foreach(property IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_OPTIONS)
    set_property(TARGET ${name} PROPERTY INTERFACE_${property} $<TARGET_PROPERTY:${name},${property}>)
  endforeach()
  target_link_libraries(${name} INTERFACE fmt::fmt hwy::hwy protobuf::libprotobuf-lite Threads::Threads ZLIB::ZLIB)
endfunction()

# convlab_shared_for_tests(): convlab_tested_low has the layers below the kernels; convlab_tested has all others, the
# kernels and the commands. So tests of low layers do not wait for kernels to compile.
function(convlab_shared_for_tests)
  list(FIND CONVLAB_LAYERS kernels first_high)
  set(position 0)
  foreach(layer IN LISTS CONVLAB_LAYERS)
    string(REPLACE "/" "_" target convlab_${layer})
    if(TARGET ${target} AND position LESS first_high)
      list(APPEND low ${target})
    elseif(TARGET ${target})
      list(APPEND high ${target})
    endif()
    math(EXPR position "${position} + 1")
  endforeach()
  convlab_shared(convlab_tested_low TARGETS ${low})
  convlab_shared(convlab_tested TARGETS ${high} convlab_app LINK convlab_tested_low convlab_all)
  target_link_libraries(convlab_tested INTERFACE convlab_tested_low)
endfunction()

# convlab_test(NAME SOURCES file... [LABELS label...] [ROOMS room...] [LOW]): one GoogleTest program; each of its tests
# is one CTest test. ROOMS: the arguments of `./test.sh ROOM` that run it; by default the folder of its first file. LOW:
# it needs no layer above the model's.
function(convlab_test name)
  cmake_parse_arguments(ARG "LOW" "TIMEOUT" "SOURCES;DEPENDS;LABELS;ROOMS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  set(tested convlab_tested)
  if(ARG_LOW)
    set(tested convlab_tested_low)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE convlab_options convlab_cold_options ${tested} convlab_test_paths GTest::gmock
    GTest::gtest_main ${ARG_DEPENDS})
  target_precompile_headers(${name} REUSE_FROM convlab_tests_precompiled)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  if(NOT ARG_ROOMS)
    list(GET ARG_SOURCES 0 ARG_ROOMS)
    get_filename_component(ARG_ROOMS ${ARG_ROOMS} DIRECTORY)
  endif()
  convlab_discover(${name} "${ARG_LABELS}" ${ARG_TIMEOUT} ${ARG_ROOMS})
endfunction()

# convlab_discover(NAME LABELS SECONDS ROOM...): makes each test of a GoogleTest program a CTest test, with the labels
# and, for each room, "room:ROOM". The target tests_of_ROOM builds the programs of a room's tests.
function(convlab_discover name labels seconds)
  foreach(room IN LISTS ARGN)
    list(APPEND labels room:${room})
    if(NOT TARGET tests_of_${room})
      add_custom_target(tests_of_${room})
      set_property(GLOBAL APPEND PROPERTY CONVLAB_TESTED_ROOMS ${room})
    endif()
    add_dependencies(tests_of_${room} ${name})
  endforeach()
  # By default, sanitizers abort if an allocation is too large. Tests need malloc's behavior.
  set(environment ASAN_OPTIONS=allocator_may_return_null=1)
  if(CONVLAB_SANITIZE STREQUAL thread)
    set(environment TSAN_OPTIONS=allocator_may_return_null=1)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  # Not passed as PROPERTIES: those accept no lists, and a second label would be parsed as a property's name.
  set(properties ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
  file(CONFIGURE OUTPUT ${properties} @ONLY CONTENT "if(@name@_TESTS)
  set_tests_properties(\${@name@_TESTS} PROPERTIES LABELS \"@labels@\" TIMEOUT @seconds@ ENVIRONMENT @environment@)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties})
  if("unit" IN_LIST labels)
    add_dependencies(convlab_unit_tests ${name})
  endif()
endfunction()
