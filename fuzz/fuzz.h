#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "convlab/base/error.h"

/// The fuzz target: libFuzzer calls it with every input, replay_main.cc with every file of the corpus.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace convlab {

/// Calls `parse`, which must either succeed or throw an Error(bad_input) with a message.
template <class Parse>
void refuse_or_take(Parse&& parse) {
  try {
    parse();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input || *error.what() == '\0') {
      std::fprintf(stderr, "not a message about bad input: '%s'\n", error.what());
      std::abort();
    }
  }
}

/// Aborts, so that the fuzzer reports a failure, unless `holds`.
inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace convlab
