#pragma once

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "convlab/kernel_file/simt_include/labs/lab_solution.h"
#include "convlab/kernel_file/simt_include/labs/lab_sparse.h"

// Labs use these without std::, as libwb's headers let them.
using std::exception;
using std::string;
using std::stringstream;
using std::vector;

inline void CSRToJDS(int rows, int* row_begin, int* column, float* data, int** row_order, int** row_length,
                     int** column_begin, int** jds_column, float** jds_data) {
  convlab::labs::csr_to_jds(rows, row_begin, column, data, row_order, row_length, column_begin, jds_column, jds_data);
}

/// Declares the functions, types and constants of wb.h or gputk.h, whose names differ only in their prefix P.
#define CONVLAB_LAB_NAMES(P)                                                                                           \
  using P##Bool = bool;                                                                                                \
  using P##Real_t = float;                                                                                             \
  using P##Char_t = char;                                                                                              \
  inline constexpr bool P##True = true, P##False = false;                                                              \
                                                                                                                       \
  using P##Arg_t = convlab::labs::Arguments;                                                                           \
  inline P##Arg_t P##Arg_read(int count, char** values) { return convlab::labs::read_arguments(count, values); }       \
  inline void P##Arg_delete(P##Arg_t arguments) { convlab::labs::delete_arguments(arguments); }                        \
  inline int P##Arg_getInputCount(const P##Arg_t& arguments) { return arguments.inputCount; }                          \
  inline char** P##Arg_getInputFiles(const P##Arg_t& arguments) { return arguments.inputFiles; }                       \
  inline char* P##Arg_getInputFile(const P##Arg_t& arguments, int index) {                                             \
    return convlab::labs::input_file(arguments, index);                                                                \
  }                                                                                                                    \
  inline char* P##Arg_getOutputFile(const P##Arg_t& arguments) { return arguments.outputFile; }                        \
  inline char* P##Arg_getExpectedOutputFile(const P##Arg_t& arguments) { return arguments.expectedOutput; }            \
  inline char* P##Arg_getType(const P##Arg_t& arguments) { return arguments.type; }                                    \
  inline char* P##Arg_getSessionId(const P##Arg_t& arguments) { return arguments.sessionId; }                          \
                                                                                                                       \
  using P##Type_t = convlab::labs::ElementType;                                                                        \
  inline constexpr P##Type_t P##Type_ascii = P##Type_t::ascii, P##Type_bit8 = P##Type_t::bit8,                         \
                             P##Type_ubit8 = P##Type_t::ubit8, P##Type_integer = P##Type_t::integer,                   \
                             P##Type_float = P##Type_t::real, P##Type_real = P##Type_t::real,                          \
                             P##Type_double = P##Type_t::real64;                                                       \
                                                                                                                       \
  using P##Image_t = convlab::labs::Image*;                                                                            \
  inline constexpr int P##Image_channels = 3;                                                                          \
  inline P##Image_t P##Image_new(int width, int height, int channels = 3) {                                            \
    return convlab::labs::new_image(width, height, channels);                                                          \
  }                                                                                                                    \
  inline P##Image_t P##Image_new(int width, int height, int channels, float* data) {                                   \
    return convlab::labs::new_image(width, height, channels, data);                                                    \
  }                                                                                                                    \
  inline void P##Image_delete(P##Image_t image) { convlab::labs::delete_image(image); }                                \
  inline int& P##Image_getWidth(P##Image_t image) { return image->width; }                                             \
  inline int& P##Image_getHeight(P##Image_t image) { return image->height; }                                           \
  inline int& P##Image_getChannels(P##Image_t image) { return image->channels; }                                       \
  inline int& P##Image_getPitch(P##Image_t image) { return image->pitch; }                                             \
  inline float*& P##Image_getData(P##Image_t image) { return image->data; }                                            \
  inline void P##Image_setWidth(P##Image_t image, int width) { image->width = width; }                                 \
  inline void P##Image_setHeight(P##Image_t image, int height) { image->height = height; }                             \
  inline void P##Image_setChannels(P##Image_t image, int channels) { image->channels = channels; }                     \
  inline void P##Image_setPitch(P##Image_t image, int pitch) { image->pitch = pitch; }                                 \
  inline void P##Image_setData(P##Image_t image, float* data) { image->data = data; }                                  \
  inline bool P##Image_sameQ(P##Image_t a, P##Image_t b) {                                                             \
    return convlab::labs::internal::image_difference(b, a).empty();                                                    \
  }                                                                                                                    \
                                                                                                                       \
  inline void* P##Import(const char* file, int* rows) {                                                                \
    return convlab::labs::import_values(file, rows, nullptr, "Real");                                                  \
  }                                                                                                                    \
  inline void* P##Import(const char* file, int* rows, int* columns) {                                                  \
    return convlab::labs::import_values(file, rows, columns, "Real");                                                  \
  }                                                                                                                    \
  inline void* P##Import(const char* file, int* rows, const char* type) {                                              \
    return convlab::labs::import_values(file, rows, nullptr, type);                                                    \
  }                                                                                                                    \
  inline void* P##Import(const char* file, int* rows, int* columns, const char* type) {                                \
    return convlab::labs::import_values(file, rows, columns, type);                                                    \
  }                                                                                                                    \
  inline P##Image_t P##Import(const char* file) { return convlab::labs::import_image(file); }                          \
  inline int P##Import_flag(const char* file) { return convlab::labs::import_flag(file); }                             \
                                                                                                                       \
  using P##ExportKind_t = convlab::labs::FileKind;                                                                     \
  inline constexpr P##ExportKind_t P##ExportKind_raw = P##ExportKind_t::raw, P##ExportKind_csv = P##ExportKind_t::csv, \
                                   P##ExportKind_tsv = P##ExportKind_t::tsv, P##ExportKind_ppm = P##ExportKind_t::ppm, \
                                   P##ExportKind_text = P##ExportKind_t::text;                                         \
  inline void P##Export(const char* file, unsigned char* data, int rows, int columns = 1) {                            \
    convlab::labs::export_values(file, data, rows, columns, P##Type_ubit8);                                            \
  }                                                                                                                    \
  inline void P##Export(const char* file, int* data, int rows, int columns = 1) {                                      \
    convlab::labs::export_values(file, data, rows, columns, P##Type_integer);                                          \
  }                                                                                                                    \
  inline void P##Export(const char* file, float* data, int rows, int columns = 1) {                                    \
    convlab::labs::export_values(file, data, rows, columns, P##Type_float);                                            \
  }                                                                                                                    \
  inline void P##Export(const char* file, P##ExportKind_t kind, void* data, int rows, int columns, P##Type_t type) {   \
    if (file != nullptr) convlab::labs::export_values(file, kind, data, rows, columns, type);                          \
  }                                                                                                                    \
  inline void P##Export(const char* file, P##Image_t image) {                                                          \
    if (file != nullptr) convlab::labs::export_image(file, image);                                                     \
  }                                                                                                                    \
  inline void P##Export_text(const char* file, void* data, int length) {                                               \
    P##Export(file, P##ExportKind_text, data, 1, length, P##Type_ascii);                                               \
  }                                                                                                                    \
                                                                                                                       \
  inline bool P##Solution(const P##Arg_t& arguments, void* data, int rows, int columns = 1) {                          \
    return convlab::labs::judge_solution(arguments, data, rows, columns);                                              \
  }                                                                                                                    \
  inline bool P##Solution(const P##Arg_t& arguments, P##Image_t image) {                                               \
    return convlab::labs::judge_solution(arguments, image, image->height, image->width);                               \
  }                                                                                                                    \
  inline bool P##Solution(char* expected, char* output, char* type, void* data, int rows, int columns) {               \
    return convlab::labs::compare_solution(expected, output, type, data, rows, columns).empty();                       \
  }                                                                                                                    \
                                                                                                                       \
  template <class... T>                                                                                                \
  string P##String(const T&... values) {                                                                               \
    return convlab::labs::text(values...);                                                                             \
  }                                                                                                                    \
  inline void* P##Malloc(size_t bytes) { return malloc(bytes); }                                                       \
  template <class T>                                                                                                   \
  void P##Free(T*& memory) {                                                                                           \
    free(memory);                                                                                                      \
    memory = nullptr;                                                                                                  \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  void P##Delete(T*& memory) {                                                                                         \
    P##Free(memory);                                                                                                   \
  }
