#pragma once

#include <cstring>

#include "convlab/kernel_file/simt_include/labs/lab_log.h"

/// The command line of a lab: -i INPUT,INPUT,... -e EXPECTED -o OUTPUT -t TYPE.
namespace convlab::labs {

struct Arguments {
  char* sessionId = nullptr;
  int inputCount = 0;
  char** inputFiles = nullptr;
  char* outputFile = nullptr;
  char* expectedOutput = nullptr;
  char* type = nullptr;
};

namespace internal {

inline void set_inputs(Arguments& arguments, const std::string& list) {
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (!name.empty()) names.push_back(name);
  }
  arguments.inputCount = static_cast<int>(names.size());
  arguments.inputFiles = static_cast<char**>(std::malloc(sizeof(char*) * (names.size() + 1)));
  for (size_t i = 0; i < names.size(); ++i) arguments.inputFiles[i] = ::strdup(names[i].c_str());
}

}  // namespace internal

/// Reads the command line. As in libwb, the first letter of an option is enough, and arguments other than options are
/// ignored.
inline Arguments read_arguments(int count, char** values) {
  Arguments arguments;
  arguments.sessionId = ::strdup("session_id_disabled");
  for (int i = 1; i < count; ++i) {
    const char* option = values[i];
    if (option[0] != '-') continue;
    if (std::strchr("siote", option[1]) == nullptr || option[1] == '\0') {
      log(kLevel_ERROR, __FILE__, __func__, __LINE__, text("Unexpected program option ", option));
      continue;
    }
    if (i + 1 == count) give_up(text("option ", option, " needs a value"));
    const char* value = values[++i];
    if (option[1] == 'i') internal::set_inputs(arguments, value);
    if (option[1] == 'o') arguments.outputFile = ::strdup(value);
    if (option[1] == 'e') arguments.expectedOutput = ::strdup(value);
    if (option[1] == 't') arguments.type = ::strdup(value);
  }
  return arguments;
}

inline void delete_arguments(Arguments arguments) {
  for (int i = 0; i < arguments.inputCount; ++i) std::free(arguments.inputFiles[i]);
  std::free(arguments.inputFiles);
  std::free(arguments.outputFile);
  std::free(arguments.expectedOutput);
  std::free(arguments.type);
  std::free(arguments.sessionId);
}

/// Returns the name of an input file. Unlike libwb, ends the program with a message if there are fewer.
inline char* input_file(const Arguments& arguments, int index) {
  if (index >= 0 && index < arguments.inputCount) return arguments.inputFiles[index];
  give_up(text("the program asks for input file ", index, ", and option -i names ", arguments.inputCount,
               arguments.inputCount == 1 ? " file" : " files"));
}

}  // namespace convlab::labs
