// Tests precompiled headers of kernel files: g++ accepts them, and they are built once.

#include "convlab/kernel_file/precompiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "convlab/base/file.h"
#include "convlab/device/simt.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/host_command.h"
#include "tests/support/own_cache.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::ContainsRegex;

/// Compiles a template and returns the compiler's list of the headers that it read (g++ -H).
std::string headers_read_by(const char* name, const std::filesystem::path& made_in) {
  const KernelSource source = read_kernel_source(source_folder() / "convlab/kernel_file/templates" / name);
  CompileOptions options{.folder = made_in};
  std::string said;
  options.runner = [&](const CompilerCommand& command) {
    CompilerCommand telling = command;
    telling.words.emplace_back("-H");
    ProcessRun run = run_process(telling.words.front(), telling.words, 60);
    said = run.complaint;
    return run;
  };
  compile_kernel_file(source, Toolchain::simt, options);
  return said;
}

#ifndef __clang__
TEST(PrecompiledHeaders, AreTakenForFilesOfEachKind) {
  if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
  const TemporaryFolder folder;
  const OwnCache cache(folder.path() / "cache");
  for (const char* name : {"own.cu", "mxnet.cuh", "minidnn.cu", "function.cu"}) {
    // "!" marks a precompiled header that g++ uses, "x" one that it rejects.
    EXPECT_THAT(headers_read_by(name, folder.path()), ContainsRegex("! .*/headers/.*/first.h.gch"));
  }
}
#endif

class PrecompiledHeadersOf : public testing::Test {
 protected:
  PrecompiledHeadersOf() {
    ::setenv("CONVLAB_CACHE", folder_.path().c_str(), 1);
    cache_.emplace();
    ::unsetenv("CONVLAB_CACHE");
    write_file(first(), std::string_view("int first();\n"));
  }
  std::filesystem::path first() const { return folder_.path() / "first_of_all.h"; }
  std::filesystem::path made(const std::vector<std::string>& command) const {
    return precompiled_headers(FileKind::function, command, first(), header_root(), *cache_);
  }

  std::filesystem::path calls() const { return folder_.path() / "calls"; }
  /// A compiler stub: counts its calls and creates the output file.
  std::string stand_in() const {
    const std::filesystem::path compiler = folder_.path() / "compiler";
    write_file(compiler, "#!/bin/sh\necho call >> " + calls().string() + "\nfor last; do :; done\n: > \"$last\"\n");
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    return compiler.string();
  }

  const TemporaryFolder folder_;
  std::optional<Cache> cache_;
};

TEST_F(PrecompiledHeadersOf, OneCommandAreMadeOnce) {
  const std::string compiler = stand_in();
  const std::filesystem::path header = made({compiler, "-O2"});
  EXPECT_EQ(header.filename(), "first.h");
  EXPECT_TRUE(std::filesystem::exists(header.string() + ".gch"));
  EXPECT_EQ(made({compiler, "-O2"}), header);
  EXPECT_EQ(std::filesystem::file_size(calls()), 5u);
  EXPECT_NE(made({compiler, "-O1"}), header);
  write_file(first(), std::string_view("int other();\n"));
  const std::filesystem::path changed = made({compiler, "-O2"});
  EXPECT_NE(changed, header);
  // The most recently used headers are kept.
  for (char c = 'a'; c <= 'f'; ++c) {
    EXPECT_EQ(made({compiler, "-O2"}), changed);
    made({compiler, std::string("-D") + c});
  }
  EXPECT_FALSE(std::filesystem::exists(header));
  EXPECT_TRUE(std::filesystem::exists(changed));
}

TEST_F(PrecompiledHeadersOf, ChangedHeadersAreMadeAgain) {
  const std::string compiler = stand_in();
  const std::filesystem::path& root = folder_.path();
  std::filesystem::create_directories(root / "convlab/base");
  write_file(first(), std::string_view("#include \"convlab/outer.h\"\n"));
  write_file(root / "convlab/outer.h", std::string_view("#include \"convlab/base/inner.h\"\n"));
  const auto made_with = [&](std::string_view inner) {
    write_file(root / "convlab/base/inner.h", inner);
    return precompiled_headers(FileKind::own, {compiler}, first(), root, *cache_);
  };
  const std::filesystem::path header = made_with("int inner();\n");
  EXPECT_NE(made_with("int changed();\n"), header);
  EXPECT_EQ(made_with("int inner();\n"), header);
}

TEST_F(PrecompiledHeadersOf, ACleanedFolderAreMadeAgain) {
  const std::string compiler = stand_in();
  const std::filesystem::path header = made({compiler});
  std::filesystem::remove(header.string() + ".gch");
  EXPECT_EQ(made({compiler}), header);
  EXPECT_TRUE(std::filesystem::exists(header.string() + ".gch"));
}

TEST_F(PrecompiledHeadersOf, ACompilerThatFailsAreNotThere) {
  EXPECT_EQ(made({"/bin/false"}), "");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "headers"));
}

}  // namespace
}  // namespace convlab
