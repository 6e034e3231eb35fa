#pragma once

#include <functional>

#include "convlab/kernel_file/simt_include/labs/lab_arguments.h"
#include "convlab/kernel_file/simt_include/labs/lab_files.h"

/// Compares what a lab computed with the expected output and prints the verdict.
namespace convlab::labs {

/// libwb's tolerance: an absolute difference of 0.2, also for the pixels of images.
inline constexpr float kTolerance = 0.2f;

/// A NaN is unequal to everything.
inline bool is_equal(float a, float b) {
  return a == 0 || b == 0 ? std::abs(a - b) < kTolerance : std::abs(a - b) <= kTolerance;
}
inline bool is_equal(int a, int b) { return a == b; }

namespace internal {

/// Returns what differs from the expected values; "" if nothing does. `found` has elements of type U.
template <class T, class U>
std::string difference(const char* file, const U* found, int rows, int columns, const char* type) {
  int expected_rows, expected_columns;
  T* expected = static_cast<T*>(import_values(file, &expected_rows, &expected_columns, type));
  std::string what;
  if (expected_rows != rows) {
    what = "The number of rows in the solution did not match that of the expected results.";
  } else if (expected_columns != columns) {
    what = "The number of columns in the solution did not match that of the expected results.";
  }
  const int64_t count = what.empty() ? static_cast<int64_t>(rows) * columns : 0;
  for (int64_t i = 0; i < count && what.empty(); ++i) {
    const T value = static_cast<T>(found[i]);
    if (is_equal(expected[i], value)) continue;
    const std::string place = columns == 1 ? text("row ", i) : text("column ", i % columns, " and row ", i / columns);
    what = text("The solution did not match the expected results at ", place, ". Expecting ", expected[i], " but got ",
                value, ".");
  }
  std::free(expected);
  return what;
}

inline std::string image_difference(const Image* expected, const Image* found) {
  if (expected->width != found->width)
    return "The image width of the expected image does not match that of the solution.";
  if (expected->height != found->height) {
    return "The image height of the expected image does not match that of the solution.";
  }
  if (expected->channels != found->channels) {
    return "The image channels of the expected image does not match that of the solution.";
  }
  const int64_t count = static_cast<int64_t>(found->width) * found->height * found->channels;
  for (int64_t i = 0; i < count; ++i) {
    // std::min and std::max would turn a NaN into a number.
    const auto clamped = [](float x) { return x < 0 ? 0.0f : x > 1 ? 1.0f : x; };
    const float x = clamped(found->data[i]), y = clamped(expected->data[i]);
    if (is_equal(x, y)) continue;
    const int64_t pixel = i / found->channels;
    return text("Image pixels do not match at position ( row = ", pixel / found->width,
                ", col = ", pixel % found->width, ", channel = ", i % found->channels, ") expecting a value of ", y,
                " but got a computed value of ", x);
  }
  return "";
}

inline std::vector<int> sorted(const void* data, int64_t count) {
  const int* values = static_cast<const int*>(data);
  std::vector<int> all(values, values + count);
  std::sort(all.begin(), all.end(), std::greater<>());
  return all;
}

inline std::string solution_difference(const char* file, const std::string& type, const void* data, int rows,
                                       int columns) {
  if (type == "image") {
    Image* expected = import_image(file);
    std::string what = image_difference(expected, static_cast<const Image*>(data));
    delete_image(expected);
    return what;
  }
  if (type == "histogram") {
    return difference<int>(file, static_cast<const unsigned char*>(data), rows, columns, "Integer");
  }
  if (type == "integral_vector/sorted") {
    const std::vector<int> values = sorted(data, static_cast<int64_t>(rows) * columns);
    return difference<int>(file, values.data(), rows, columns, "Integer");
  }
  if (type == "integral_vector") return difference<int>(file, static_cast<const int*>(data), rows, columns, "Integer");
  if (type == "vector" || type == "matrix") {
    return difference<float>(file, static_cast<const float*>(data), rows, columns, "Real");
  }
  give_up(text("option -t ", type,
               ": must be vector, matrix, image, integral_vector, integral_vector/sorted or histogram"));
}

inline void export_solution(const char* file, const std::string& type, const void* data, int rows, int columns) {
  if (type == "image") {
    export_image(file, static_cast<const Image*>(data));
  } else if (type == "integral_vector/sorted") {
    export_values(file, sorted(data, static_cast<int64_t>(rows) * columns).data(), rows, columns, ElementType::integer);
  } else {
    const ElementType element = type == "integral_vector" ? ElementType::integer
                                : type == "histogram"     ? ElementType::ubit8
                                                          : ElementType::real;
    export_values(file, data, rows, columns, element);
  }
}

}  // namespace internal

/// Compares, writes the output file if one is named, and returns the difference; "" if the solution is correct.
inline std::string compare_solution(const char* expected, const char* output, const char* type, const void* data,
                                    int rows, int columns) {
  if (data == nullptr) {
    log(kLevel_ERROR, __FILE__, __func__, __LINE__, "Failed to grade solution");
    return "The program has no result: it passes a null pointer to the check of the solution.";
  }
  if (expected == nullptr || type == nullptr) {
    log(kLevel_ERROR, __FILE__, __func__, __LINE__, "Failed to grade solution");
    return "There is no expected output: options -e FILE and -t TYPE name it.";
  }
  std::string kind(type);
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string what = std::ifstream(expected) ? internal::solution_difference(expected, kind, data, rows, columns)
                                             : text("The file ", expected, " does not exist.");
  if (output != nullptr) internal::export_solution(output, kind, data, rows, columns);
  return what;
}

/// Prints the verdict: a line of text, unless the program is compiled with -DJSON_OUTPUT, and a line of JSON, which
/// libwb prints only with -DJSON_OUTPUT. Unlike in libwb, the program's exit status stays its own.
inline bool judge_solution(const Arguments& arguments, const void* data, int rows, int columns) {
  const std::string what =
      compare_solution(arguments.expectedOutput, arguments.outputFile, arguments.type, data, rows, columns);
  if (!kPrintsJson) std::printf("The solution is %s\n", what.empty() ? "correct" : "NOT correct");
  std::printf("{\"data\": {\"correctq\": %s, \"message\": %s}, \"type\": \"solution\"}\n",
              what.empty() ? "true" : "false", quoted(what.empty() ? "The solution is correct" : what).c_str());
  return what.empty();
}

}  // namespace convlab::labs
