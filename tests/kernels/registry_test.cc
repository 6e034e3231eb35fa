// Kernels register themselves, and a linker can silently drop them: tests that the registry has the names of all kernel
// files. CMake sets CONVLAB_KERNELS to "FILE:VARIANT" for every kernel file that this build compiled. FILE is relative
// to the root; VARIANT is host (a .cc file), cuda (a .cu file compiled by nvcc) or simt (a .cu file compiled for the
// host).

#include "convlab/kernels/registry.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/former_names.h"
#include "convlab/kernels/preference.h"
#include "tests/support/paths.h"
#include "tests/support/source_tree.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

const std::filesystem::path kRoot = source_folder();

struct Compiled {
  std::filesystem::path file;
  std::string variant;
};

/// Returns the kernel files that this build compiled.
std::vector<Compiled> compiled() {
  std::vector<Compiled> all;
  for (const std::string& entry : split(CONVLAB_KERNELS, ',')) {
    const size_t colon = entry.rfind(':');
    all.push_back({entry.substr(0, colon), entry.substr(colon + 1)});
  }
  return all;
}

std::string device_of(const Compiled& kernel) {
  if (kernel.variant != "host") return kernel.variant;
  // Host code drives a GPU only through NVIDIA's libraries.
  return kernel.file.stem().string().starts_with("cud") ? "cuda" : "cpu";
}

/// Returns the stem that a convolution kernel's file must have: 02_shared_tile.cu for cuda.shared_tile, on rung 2 of
/// the ladder; cpu_direct.cc for cpu.direct.
std::string stem_of(const KernelInfo& info) {
  const std::string name(info.name);
  if (info.file.starts_with("convlab/kernels/ladder/"))
    return fmt::format("{:02}{}", info.rung, name.substr(name.find('.')));
  return name;
}

TEST(Registry, EveryCompiledFileRegistersAKernel) {
  std::set<std::string> files, registered;
  for (const Compiled& kernel : compiled()) files.insert(kernel.file.string() + " on " + device_of(kernel));
  for (const Kernel& kernel : kernels()) {
    registered.insert(fmt::format("{} on {}", kernel.info.file, name_of(kernel.info.device)));
  }
  EXPECT_FALSE(files.empty());
  EXPECT_EQ(registered, files);
}

TEST(Registry, PreferredKernelsAreListedOnceAndExist) {
  std::string sources;
  const std::filesystem::path rooms = kRoot / "convlab/kernels";
  for (const std::filesystem::path& file : files_under(rooms)) {
    if (has_ending(file, {".cc", ".cu"}) && file.filename() != "preference.cc") sources += read_text(rooms / file);
  }
  std::set<std::string_view> listed;
  for (const std::string_view name : preferred_kernels()) {
    EXPECT_TRUE(listed.insert(name).second) << name;
    EXPECT_THAT(sources, HasSubstr(fmt::format("\"{}\"", name)));  // this build may lack the device
  }
}

TEST(Registry, ProductionKernelsAreAmongThePreferred) {
  const auto preferred = preferred_kernels();
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.library) continue;
    if (kernel.info.device != DeviceKind::cpu && kernel.info.rung != kProductionRung) continue;
    EXPECT_THAT(preferred, testing::Contains(kernel.info.name));
  }
}

TEST(Registry, PreferredKernelsComeInTheirOrderAndBeforeOthers) {
  const KernelInfo first{.name = preferred_kernels().front()}, last{.name = preferred_kernels().back()},
      high{.name = "a.file", .rung = 2}, low{.name = "another.file", .rung = 1};
  EXPECT_TRUE(comes_before(first, last));
  EXPECT_FALSE(comes_before(last, first));
  EXPECT_FALSE(comes_before(first, first));
  EXPECT_TRUE(comes_before(last, high));
  EXPECT_TRUE(comes_before(high, low));
}

TEST(Registry, KernelsAreFoundByTheirFormerNames) {
  const auto& rows = former_names();
  ASSERT_FALSE(rows.empty());
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, [](const auto& row) { return row.first; }));
  std::set<std::string_view> names;
  for (const Kernel& kernel : kernels()) names.insert(kernel.info.name);
  for (const auto& [former, present] : rows) {
    EXPECT_FALSE(names.contains(former)) << former;
    EXPECT_EQ(present_name(former), present);
    EXPECT_TRUE(names.contains(present) || present.starts_with("cuda.")) << present;  // this build may lack CUDA
  }
  EXPECT_EQ(present_name("cpu.direct"), "cpu.direct");
  EXPECT_EQ(require_kernel("cpu.channel_direct", DeviceKind::cpu).info.name, "cpu.nchw8c_direct");
  EXPECT_EQ(error_message(ErrorKind::unavailable, [] { require_kernel("cpu.channel_direct", DeviceKind::cuda); }),
            "kernel cpu.channel_direct runs on cpu, not on cuda; use device cpu");
}

TEST(Registry, FilesOfConvolutionsBearTheirNames) {
  for (const Kernel& kernel : conv_kernels()) {
    std::string stem = stem_of(kernel.info);
    std::ranges::replace(stem, '.', '_');
    EXPECT_EQ(std::filesystem::path(kernel.info.file).stem(), stem);
  }
}

TEST(Registry, EveryKernelsFileIsCompiled) {
  const std::filesystem::path rooms = kRoot / "convlab/kernels";
  for (const std::filesystem::path& file : files_under(rooms)) {
    if (!has_ending(file, {".cc", ".cu"})) continue;
    const std::string name = file.filename(), lists = text_of(rooms / file.parent_path() / "CMakeLists.txt");
    if (name.starts_with("cpu_") || name.starts_with("cuda_")) {
      EXPECT_THAT(lists, AnyOf(HasSubstr(name), HasSubstr("convlab_kernels()"))) << file;
    } else {
      EXPECT_THAT(lists, HasSubstr(name));
    }
  }
}

TEST(Registry, EveryKernelKeepsTheContract) {
  for (const Kernel& kernel : conv_kernels()) {
    const std::string name(kernel.info.name);
    EXPECT_NE(kernel.info.refuses, "") << name;
    EXPECT_NE(kernel.info.limit, "") << name;
    if (!kernel.info.library) {
      EXPECT_NE(kernel.info.threads, "") << name;
      EXPECT_NE(kernel.info.cost, "") << name;
    }
  }
  for (const Kernel& kernel : kernels()) {
    EXPECT_NE(kernel.refuses, nullptr) << kernel.info.name;
    EXPECT_NE(kernel.launch, nullptr) << kernel.info.name;
    EXPECT_NE(kernel.info.idea, "") << kernel.info.name;
    const bool known = std::ranges::any_of(kernels(), [&](const Kernel& other) {
      return other.info.name == kernel.info.after && other.info.family == kernel.info.family;
    });
    EXPECT_TRUE(kernel.info.after.empty() || known)
        << kernel.info.name << " changes " << kernel.info.after << ", which is not there";
  }
}

TEST(Registry, KernelsComeByDeviceAndRung) {
  const auto key = [](const Kernel& kernel) { return std::pair(kernel.info.device, kernel.info.rung); };
  EXPECT_TRUE(std::ranges::is_sorted(kernels(), {}, key));
}

TEST(Registry, OnlyConvolutionsAreOfTheirFamily) {
  const Step conv = ConvStep{.problem = parse_problem("n16_c16h8w8_k16r1s1")};
  Step softmax{.op = SoftmaxOp{}, .inputs = conv.inputs, .outputs = conv.outputs};
  for (const Kernel& kernel : kernels()) {
    SCOPED_TRACE(kernel.info.name);
    const DeviceCaps caps{.kind = kernel.info.device};
    if (kernel.is_conv()) {
      EXPECT_EQ(kernel.refuses(softmax, caps), "only convolutions are supported");
    } else {
      EXPECT_TRUE(kernel.refuses(conv, caps));
    }
  }
}

TEST(ConvSteps, KeepEverythingAsSteps) {
  const ConvProblem problem = parse_problem("n2_c4h7w9_k6r3s2_p1x2x3x4_st2x1_d1x2_g2");
  const Pool pool{.kernel_h = 2, .kernel_w = 2};
  const ConvStep steps[] = {
      {problem},
      {problem, {.bias = true, .pool = pool, .activation = {ActivationKind::relu}}, kRawPixels, kNchw16n},
      {.problem = problem,
       .epilogue = {.bias = true},
       .input_format = kNchw8c,
       .output_format = kNchw8c,
       .adds = true,
       .input_step = 1000,
       .added_step = 2000,
       .output_step = 3000},
      {.problem = problem, .input_format = kNhwcF16, .output_format = kNhwcF16, .adds = true},
  };
  for (const ConvStep& conv : steps) {
    const Step step = conv;
    EXPECT_EQ(step.inputs.size(), 2U + conv.epilogue.bias + conv.adds);
    EXPECT_EQ(step.outputs[0].shape, conv.output_shape());
    EXPECT_TRUE(is_conv(step));
    EXPECT_EQ(conv_step(step), conv);
  }
}

std::vector<const void*> received;

void receive(const ConvArgs& args, Stream&) {
  received = {args.x, args.w, args.bias, args.added, args.y, args.prepared, args.workspace, args.prefetch.from};
  received.push_back(args.tuning.data());
}

TEST(ConvSteps, CallsPassEveryAddress) {
  const auto stream = open_device("cpu", {.threads = 1})->make_stream();
  const float in[5] = {};
  float out[3] = {};
  const int tuning[] = {1, 2};
  const ConvStep step{.problem = parse_problem("c4h4w4_k4r1s1"), .epilogue = {.bias = true}, .adds = true};
  const ConvArgs args{.step = step,
                      .x = &in[0],
                      .w = &in[1],
                      .bias = &in[2],
                      .added = &in[3],
                      .y = &out[0],
                      .prepared = &out[1],
                      .workspace = &out[2],
                      .prefetch = {&in[4], 64},
                      .tuning = tuning};
  call(of_conv<receive>, args, *stream);
  EXPECT_THAT(received,
              testing::ElementsAre(&in[0], &in[1], &in[2], &in[3], &out[0], &out[1], &out[2], &in[4], tuning));
}

TEST(Registry, AKernelIsFoundByNameAndDevice) {
  EXPECT_EQ(find_kernel("cpu.reference", DeviceKind::cpu)->info.name, "cpu.reference");
  EXPECT_EQ(find_kernel("cpu.reference", DeviceKind::cuda), nullptr);
  EXPECT_EQ(find_kernel("", DeviceKind::cpu), nullptr);
  EXPECT_EQ(require_conv_kernel("cpu.reference", DeviceKind::cpu).info.rung, 0);
}

TEST(Registry, AKernelThatIsNotThereIsAnErrorThatHelps) {
  EXPECT_THAT(bad_input_message([] { require_conv_kernel("cpu.refrence", DeviceKind::cpu); }),
              HasSubstr("did you mean cpu.reference?"));
  EXPECT_THAT(bad_input_message([] { require_conv_kernel("xyz", DeviceKind::cpu); }),
              HasSubstr("convlab list kernels"));
  EXPECT_THAT(error_message(ErrorKind::unavailable, [] { require_conv_kernel("cpu.reference", DeviceKind::cuda); }),
              HasSubstr("use device cpu"));
}

}  // namespace
}  // namespace convlab
