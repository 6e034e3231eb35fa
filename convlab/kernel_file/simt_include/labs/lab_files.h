#pragma once

#include <cctype>
#include <cstring>
#include <string>
#include <string_view>

#include "convlab/kernel_file/simt_include/labs/lab_image.h"

/// Vectors and matrices in files. The ending of a file's name is its format: .raw and .dat (a first line with rows and
/// columns, then numbers separated by blanks), .csv, .tsv, .txt and .text.
namespace convlab::labs {

enum class ElementType { ascii, bit8, ubit8, integer, real, real64 };
enum class FileKind { raw, csv, tsv, ppm, text };

namespace internal {

inline FileKind kind_of_file(const char* file) {
  if (file == nullptr) give_up("no file name; option -i names the input files, -e the expected output");
  const std::string_view name(file);
  std::string ending(name.substr(std::min(name.rfind('.'), name.size() - 1) + 1));
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (ending == "raw" || ending == "dat") return FileKind::raw;
  if (ending == "csv") return FileKind::csv;
  if (ending == "tsv") return FileKind::tsv;
  if (ending == "ppm" || ending == "pbm") return FileKind::ppm;
  if (ending == "txt" || ending == "text") return FileKind::text;
  give_up(text("'", file, "': the name must end in .raw, .dat, .csv, .tsv, .txt or .ppm"));
}

struct Extents {
  int rows = 0, columns = 0;
  size_t begin = 0;  ///< offset of the first value
};

/// Reads the first line of a .raw file.
inline Extents raw_extents(const std::string& bytes, const char* file) {
  Extents extents;
  const std::string line = bytes.substr(0, bytes.find('\n'));
  const int found = std::sscanf(line.c_str(), "%d %d", &extents.rows, &extents.columns);
  if (found < 1) give_up(text("'", file, "': the first line must be the number of rows and of columns"));
  if (found == 1) extents.columns = 1;
  extents.begin = std::min(line.size() + 1, bytes.size());
  return extents;
}

/// Counts the lines of a .csv or .tsv file, and the values of its first line.
inline Extents table_extents(const std::string& bytes, char separator, const char* file) {
  Extents extents;
  std::istringstream in(bytes);
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const int columns = 1 + static_cast<int>(std::count(line.begin(), line.end(), separator));
    if (extents.rows++ == 0) extents.columns = columns;
    if (columns != extents.columns) give_up(text("'", file, "': row ", extents.rows, " has another length"));
  }
  return extents;
}

inline void parse(const char* text, float& value) { value = std::strtof(text, nullptr); }
inline void parse(const char* text, int& value) { value = static_cast<int>(std::strtol(text, nullptr, 10)); }

template <class T>
T* values_of(const std::string& bytes, const Extents& extents, const char* file) {
  const auto is_between = [](char c) { return c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0; };
  const size_t count = static_cast<size_t>(extents.rows) * extents.columns;
  T* values = static_cast<T*>(std::malloc(std::max<size_t>(count, 1) * sizeof(T)));
  size_t at = extents.begin;
  for (size_t i = 0; i < count; ++i) {
    while (at < bytes.size() && is_between(bytes[at])) ++at;
    if (at == bytes.size()) give_up(text("'", file, "': ", i, " values, and its size says ", count));
    parse(bytes.c_str() + at, values[i]);
    while (at < bytes.size() && !is_between(bytes[at])) ++at;
  }
  return values;
}

inline Extents extents_of(const std::string& bytes, const char* file, FileKind kind) {
  if (kind == FileKind::raw) return raw_extents(bytes, file);
  if (kind == FileKind::ppm) give_up(text("'", file, "' is an image, and the program reads numbers"));
  return table_extents(bytes, kind == FileKind::tsv ? '\t' : ',', file);
}

inline void* text_of_file(const std::string& bytes, Extents& extents) {
  extents.rows = 1;
  extents.columns = static_cast<int>(bytes.size());
  char* copy = static_cast<char*>(std::malloc(bytes.size() + 1));
  std::memcpy(copy, bytes.c_str(), bytes.size() + 1);
  return copy;
}

}  // namespace internal

/// Returns a file's values, which free() releases: floats for type "Real", characters for "Text", otherwise ints. A
/// matrix of one row counts as a vector: its length is in `rows`. Unlike libwb, ends the program with a message if the
/// file cannot be read or has fewer values than its first line says.
inline void* import_values(const char* file, int* rows, int* columns, const char* type) {
  const FileKind kind = internal::kind_of_file(file);
  const std::string bytes = file_text(file);
  internal::Extents extents;
  void* values;
  if (kind == FileKind::text || std::strcmp(type, "Text") == 0) {
    values = internal::text_of_file(bytes, extents);
  } else {
    extents = internal::extents_of(bytes, file, kind);
    values = std::strcmp(type, "Real") == 0 ? static_cast<void*>(internal::values_of<float>(bytes, extents, file))
                                            : static_cast<void*>(internal::values_of<int>(bytes, extents, file));
  }
  if (extents.rows == 1 && extents.columns > 0) std::swap(extents.rows, extents.columns);
  if (rows != nullptr) *rows = extents.rows;
  if (columns != nullptr) *columns = extents.columns;
  return values;
}

/// Returns the number in the first line of a file.
inline int import_flag(const char* file) { return std::atoi(file_text(file).c_str()); }

inline void export_values(const char* file, FileKind kind, const void* data, int rows, int columns, ElementType type) {
  std::FILE* out = std::fopen(file, "w");
  if (out == nullptr) give_up(text("cannot write '", file, "'"));
  if (kind == FileKind::text) std::fwrite(data, 1, static_cast<size_t>(rows) * columns, out);
  if (kind == FileKind::raw && columns == 1) std::fprintf(out, "%d\n", rows);
  if (kind == FileKind::raw && columns != 1) std::fprintf(out, "%d %d\n", rows, columns);
  const char separator = kind == FileKind::raw ? ' ' : kind == FileKind::tsv ? '\t' : ',';
  const int64_t count = kind == FileKind::text ? 0 : static_cast<int64_t>(rows) * columns;
  for (int64_t i = 0; i < count; ++i) {
    if (type == ElementType::integer) std::fprintf(out, "%d", static_cast<const int*>(data)[i]);
    if (type == ElementType::ubit8) std::fprintf(out, "%d", static_cast<const unsigned char*>(data)[i]);
    if (type == ElementType::real) std::fprintf(out, "%f", static_cast<double>(static_cast<const float*>(data)[i]));
    std::fputc((i + 1) % columns == 0 ? '\n' : separator, out);
  }
  std::fclose(out);
}

inline void export_values(const char* file, const void* data, int rows, int columns, ElementType type) {
  if (file != nullptr) export_values(file, internal::kind_of_file(file), data, rows, columns, type);
}

}  // namespace convlab::labs
