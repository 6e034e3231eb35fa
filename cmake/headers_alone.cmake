# Checks that every header compiles alone, after the precompiled headers: one source per header includes it twice, in a
# library that nothing links. This takes minutes, so it is only built on request, as .ci/run does.

file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/convlab/*.h ${PROJECT_SOURCE_DIR}/app/*.h ${PROJECT_SOURCE_DIR}/tests/*.h ${PROJECT_SOURCE_DIR}/fuzz/*.h)
if(NOT CONVLAB_CUDA_FOUND)
  # Selected by their includes: a machine with the CUDA toolkit would not reveal a header missing from a list.
  foreach(header IN LISTS headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} needs_toolkit REGEX "^#include <(cuda|cuda_runtime_api)\\.h>")
    if(needs_toolkit)
      list(REMOVE_ITEM headers ${header})
    endif()
  endforeach()
endif()
if(NOT CONVLAB_CUDNN_INCLUDE_DIR)
  foreach(part IN ITEMS graph library plans)
    list(REMOVE_ITEM headers convlab/kernels/libraries/cudnn_${part}.h)
  endforeach()
endif()
if(NOT CONVLAB_CUPTI_INCLUDE_DIR)
  list(REMOVE_ITEM headers convlab/device/cupti_library.h)
endif()
if(NOT CONVLAB_SIMT)
  # These need Boost.Context, and replace the CUDA toolkit's headers.
  list(FILTER headers EXCLUDE REGEX "^convlab/simt/")
endif()
if(NOT CONVLAB_CLASS)
  list(FILTER headers EXCLUDE REGEX "^(convlab/(judge|classroom)|app/class|tests/classroom)/")
endif()
list(FILTER headers EXCLUDE REGEX "^convlab/kernel_file/.*include/")  # they replace other projects' headers
list(FILTER headers EXCLUDE REGEX "^tests/programs/")  # of CUDA programs, which `convlab cuda` compiles
list(REMOVE_ITEM headers convlab/simt/cuda/half_functions.h)  # a part of two others, which say what its names mean
if(NOT headers)
  message(FATAL_ERROR "No headers were found under ${PROJECT_SOURCE_DIR}")
endif()

set(sources)
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} stem)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${stem}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n" @ONLY)
  list(APPEND sources ${source})
endforeach()

add_library(convlab_headers_alone OBJECT EXCLUDE_FROM_ALL ${sources})
target_link_libraries(convlab_headers_alone PRIVATE
  convlab_options convlab_cold_options GTest::gmock CLI11::CLI11 nlohmann_json::nlohmann_json ZLIB::ZLIB)
foreach(layer IN LISTS CONVLAB_LAYERS)
  string(REPLACE "/" "_" name ${layer})
  if(TARGET convlab_${name})
    target_link_libraries(convlab_headers_alone PRIVATE convlab_${name})
  endif()
endforeach()
target_precompile_headers(convlab_headers_alone REUSE_FROM convlab_tests_precompiled)
set_target_properties(convlab_headers_alone PROPERTIES POSITION_INDEPENDENT_CODE OFF)
