// Fuzzes reading of tar archives, plain and gzipped.

#include "convlab/dataset/tar_file.h"
#include "fuzz/file_of.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const convlab::FileOf file(data, size);
  convlab::refuse_or_take([&] {
    convlab::TarFile archive(file.path());
    while (const auto entry = archive.next()) {
      constexpr int64_t kMost = 1 << 20;  // gzip may inflate to more than a fuzzer has time for
      if (entry->bytes <= kMost) convlab::demand(std::ssize(archive.content()) == entry->bytes, "all of it comes");
    }
  });
  return 0;
}
