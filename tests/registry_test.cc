// Kernels register themselves, which a linker can undo silently: the names in the registry must be those of the files.
// CONVLAB_KERNELS, given by CMake, has "FILE:VARIANT" for every kernel's file that this build compiled, FILE relative
// to the root, VARIANT being host (a .cc file), cuda (a .cu file by nvcc) or simt (a .cu file for the host).

#include "convlab/kernels/registry.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "convlab/base/text.h"
#include "convlab/kernels/op.h"
#include "tests/errors.h"
#include "tests/source_tree.h"

namespace convlab {
namespace {

using testing::HasSubstr;

const std::filesystem::path kRoot = CONVLAB_SOURCE_DIR;

struct Compiled {
  std::filesystem::path file;
  std::string variant;
};

/// What this build compiled of convlab/kernels/FOLDER.
std::vector<Compiled> compiled(const std::string& folder) {
  std::vector<Compiled> all;
  for (const std::string& entry : split(CONVLAB_KERNELS, ',')) {
    const size_t colon = entry.rfind(':');
    const std::filesystem::path file = entry.substr(0, colon);
    if (file.parent_path() == "convlab/kernels/" + folder) all.push_back({file, entry.substr(colon + 1)});
  }
  return all;
}

/// The name of the kernel in a file: cuda_shared_tile.cu has cuda.shared_tile, onednn.cc has onednn.
std::string kernel_name(const std::filesystem::path& file) {
  std::string name = file.stem();
  if (const size_t at = name.find('_'); at != std::string::npos) name[at] = '.';
  return name;
}

std::string device_of(const Compiled& kernel) {
  if (kernel.variant != "host") return kernel.variant;
  // Host code drives a GPU only through NVIDIA's libraries.
  return kernel.file.stem().string().starts_with("cud") ? "cuda" : "cpu";
}

TEST(Registry, NamesAreThoseOfTheFiles) {
  std::set<std::string> files, registered;
  for (const Compiled& kernel : compiled("conv")) files.insert(kernel_name(kernel.file) + " on " + device_of(kernel));
  for (const ConvKernel& kernel : conv_kernels()) {
    registered.insert(std::string(kernel.info.name) + " on " + std::string(name_of(kernel.info.device)));
  }
  EXPECT_FALSE(files.empty());
  EXPECT_EQ(registered, files);
}

TEST(Registry, FileNamesGiveKernelNames) {
  EXPECT_EQ(kernel_name("a/cuda_shared_tile.cu"), "cuda.shared_tile");
  EXPECT_EQ(kernel_name("a/cpu_direct.cc"), "cpu.direct");
  EXPECT_EQ(kernel_name("a/onednn.cc"), "onednn");
}

TEST(Registry, EveryFileStandsInCMakeLists) {
  for (const char* folder : {"conv", "ops"}) {
    const std::filesystem::path path = kRoot / "convlab/kernels" / folder;
    const std::string list = text_of(path / "CMakeLists.txt");
    for (const std::filesystem::path& file : files_under(path)) {
      if (!has_ending(file, {".cc", ".cu"})) continue;
      EXPECT_THAT(list, HasSubstr(file.string()));
    }
  }
}

TEST(Registry, EveryOperatorsFileRegistersSomething) {
  // A file may have several kernels: cpu_elementwise.cc has cpu.add and cpu.mul. So they are only counted, by device.
  std::map<std::string, size_t> files, registered;
  for (const Compiled& kernel : compiled("ops")) ++files[device_of(kernel)];
  for (const OpKernel& kernel : op_kernels()) ++registered[std::string(name_of(kernel.device))];
  for (const auto& [device, count] : files) EXPECT_GE(registered[device], count) << device;
}

TEST(Registry, EveryKernelKeepsTheContract) {
  for (const ConvKernel& kernel : conv_kernels()) {
    const std::string name(kernel.info.name);
    EXPECT_NE(kernel.refuses, nullptr) << name;
    EXPECT_NE(kernel.launch, nullptr) << name;
    EXPECT_NE(kernel.info.idea, "") << name;
    const bool known = std::ranges::any_of(
        conv_kernels(), [&](const ConvKernel& other) { return other.info.name == kernel.info.after; });
    EXPECT_TRUE(kernel.info.after.empty() || known)
        << name << " changes " << kernel.info.after << ", which is not there";
  }
  for (const OpKernel& kernel : op_kernels()) {
    EXPECT_NE(kernel.refuses, nullptr) << kernel.name;
    EXPECT_NE(kernel.launch, nullptr) << kernel.name;
  }
}

TEST(Registry, KernelsComeByDeviceAndRung) {
  const auto key = [](const ConvKernel& kernel) { return std::pair(kernel.info.device, kernel.info.rung); };
  EXPECT_TRUE(std::ranges::is_sorted(conv_kernels(), {}, key));
}

TEST(Registry, AKernelIsFoundByNameAndDevice) {
  EXPECT_EQ(find_conv_kernel("cpu.reference", DeviceKind::cpu)->info.name, "cpu.reference");
  EXPECT_EQ(find_conv_kernel("cpu.reference", DeviceKind::cuda), nullptr);
  EXPECT_EQ(find_conv_kernel("", DeviceKind::cpu), nullptr);
  EXPECT_EQ(require_conv_kernel("cpu.reference", DeviceKind::cpu).info.rung, 0);
}

TEST(Registry, AKernelThatIsNotThereIsAnErrorThatHelps) {
  EXPECT_THAT(bad_input_message([] { require_conv_kernel("cpu.refrence", DeviceKind::cpu); }),
              HasSubstr("did you mean cpu.reference?"));
  EXPECT_THAT(bad_input_message([] { require_conv_kernel("xyz", DeviceKind::cpu); }),
              HasSubstr("convlab list kernels"));
  EXPECT_THAT(error_message(ErrorKind::unavailable, [] { require_conv_kernel("cpu.reference", DeviceKind::cuda); }),
              HasSubstr("--device cpu"));
}

}  // namespace
}  // namespace convlab
