#pragma once

#include <filesystem>
#include <string>

#include "convlab/kernel_file/entry.h"

namespace convlab {

/// A compiled kernel file, loaded into this process for the rest of its life: what it keeps, it keeps. It may do to the
/// process whatever it likes, so that only processes of their own load files (see app/guests/guest.h).
class LoadedFile {
 public:
  /// Error(bad_input) if it cannot be loaded, because of names that nobody defines, say.
  explicit LoadedFile(const std::filesystem::path& library);

  /// Its entry points; nullptr if the file registers itself.
  const FileEntry* entry() const { return entry_; }

 private:
  const FileEntry* entry_;
};

}  // namespace convlab
