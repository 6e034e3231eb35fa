// Generates the functions through which convlab calls a kernel file.

#include "convlab/kernel_file/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

#include "convlab/base/error.h"

namespace convlab {
namespace {

constexpr std::string_view kMinidnnNumbers = "p.images, p.maps, p.channels, p.height, p.width, p.filter_h";

constexpr const char* kFinishOnHost =
    "static const char* convlab_finish() { return 0; }\nstatic void convlab_release(float*) {}\n";
constexpr const char* kFinishOnDevice =
    "static const char* convlab_finish() {\n"
    "  const cudaError_t error = cudaDeviceSynchronize();\n"
    "  cudaGetLastError();\n"
    "  return error == cudaSuccess ? 0 : cudaGetErrorString(error);\n"
    "}\n"
    "static void convlab_release(float* array) {\n"
    "#ifdef __CUDACC__\n"
    "  cudaHostUnregister(array);\n"
    "  cudaGetLastError();\n"
    "#else\n"
    "  convlab::simt::cuda::forget_host_memory(array);\n"
    "#endif\n"
    "}\n";

/// Returns the integer arguments of a mini-dnn function, which follow its pointers: B, M, C, H, W, K and, since 2023,
/// S.
std::string minidnn_numbers(const KernelSource& source, const FileFunction& function, int pointers) {
  const auto all = static_cast<int>(function.list.size()), numbers = function.number_count();
  if (all - numbers == pointers && numbers == 6) return std::string(kMinidnnNumbers);
  if (all - numbers == pointers && numbers == 7) return fmt::format("{}, p.stride", kMinidnnNumbers);
  throw bad_input(
      "{}:{}: unsupported signature {}({}); expected {} pointers (output, input, filter{}), then B, M, C, H, W, K and "
      "optionally a stride S",
      source.path.string(), function.line, function.name, function.parameters, pointers,
      pointers > 3 ? ", on host and device" : "");
}

std::string object_of(const FileFunction& function) {
  return function.scope.empty() ? "" : fmt::format("{}().", function.scope);
}

std::string minidnn_calls(const KernelSource& source) {
  std::string text;
  if (const FileFunction* cpu = source.find("conv_forward_cpu")) {
    text += fmt::format(
        "static void convlab_forward(float* y, float* x, float* w, const convlab::FileProblem& p) {{\n"
        "  static_cast<void>(p);\n  {}conv_forward_cpu(y, x, w, {});\n}}\n"
        "extern \"C\" const convlab::FileEntry convlab_kernel_file = {{convlab_forward, true, 0, 0, 0, "
        "convlab_finish, convlab_release}};\n",
        object_of(*cpu), minidnn_numbers(source, *cpu, 3));
    return text;
  }
  const FileFunction& call = *source.find("conv_forward_gpu");
  const FileFunction* prolog = source.find("conv_forward_gpu_prolog");
  if (prolog == nullptr) {
    text += fmt::format(
        "static void convlab_forward(float* y, float* x, float* w, const convlab::FileProblem& p) {{\n"
        "  {}conv_forward_gpu(y, x, w, {});\n}}\n"
        "extern \"C\" const convlab::FileEntry convlab_kernel_file = {{convlab_forward, true, 0, 0, 0, "
        "convlab_finish, convlab_release}};\n",
        object_of(call), minidnn_numbers(source, call, 3));
    return text;
  }
  const FileFunction& epilog = *source.find("conv_forward_gpu_epilog");
  text += fmt::format(
      "static void convlab_prolog(float* y, float* x, float* w, float** device_y, float** device_x, float** device_w,\n"
      "                           const convlab::FileProblem& p) {{\n"
      "  {}conv_forward_gpu_prolog(y, x, w, device_y, device_x, device_w, {});\n}}\n",
      object_of(*prolog), minidnn_numbers(source, *prolog, 6));
  text += fmt::format(
      "static void convlab_call(float* y, float* x, float* w, const convlab::FileProblem& p) {{\n"
      "  {}conv_forward_gpu(y, x, w, {});\n}}\n",
      object_of(call), minidnn_numbers(source, call, 3));
  text += fmt::format(
      "static void convlab_epilog(float* y, float* device_y, float* device_x, float* device_w,\n"
      "                           const convlab::FileProblem& p) {{\n"
      "  {}conv_forward_gpu_epilog(y, device_y, device_x, device_w, {});\n}}\n",
      object_of(epilog), minidnn_numbers(source, epilog, 4));
  return text +
         "extern \"C\" const convlab::FileEntry convlab_kernel_file = {0, true, convlab_prolog, convlab_call, "
         "convlab_epilog, convlab_finish, convlab_release};\n";
}

std::string mxnet_calls(const KernelSource& source) {
  const FileFunction& forward = source.functions.front();
  if (forward.list.size() != 3) {
    throw bad_input(
        "{}:{}: unsupported signature forward({}); expected forward(Tensor& y, const Tensor& x, const Tensor& w)",
        source.path.string(), forward.line, forward.parameters);
  }
  const std::string_view device = source.cuda ? "mshadow::gpu" : "mshadow::cpu";
  return fmt::format(
      "using namespace mxnet::op;\n"
      "static void convlab_forward(float* y, float* x, float* w, const convlab::FileProblem& p) {{\n"
      "  using Tensor = mshadow::Tensor<{0}, 4, float>;\n"
      "  mshadow::Stream<{0}> stream;\n"
      "  const int rows = (p.height - p.filter_h) / p.stride + 1, columns = (p.width - p.filter_w) / p.stride + 1;\n"
      "  Tensor output(y, mshadow::Shape4(p.images, p.maps, rows, columns), &stream);\n"
      "  const Tensor input(x, mshadow::Shape4(p.images, p.channels, p.height, p.width), &stream);\n"
      "  const Tensor filter(w, mshadow::Shape4(p.maps, p.channels, p.filter_h, p.filter_w), &stream);\n"
      "  forward<{0}, float>(output, input, filter);\n}}\n"
      "extern \"C\" const convlab::FileEntry convlab_kernel_file = {{convlab_forward, {1}, 0, 0, 0, "
      "convlab_finish, convlab_release}};\n",
      device, source.cuda ? "false" : "true");
}

struct NamedValue {
  std::string_view name, value;
};

constexpr std::string_view kRows = "(p.height - p.filter_h) / p.stride + 1";
constexpr std::string_view kColumns = "(p.width - p.filter_w) / p.stride + 1";

/// Parameter names as in NVIDIA's libraries: K output channels, R x S filters.
constexpr std::array kByMaps{
    NamedValue{"n", "p.images"},      NamedValue{"c", "p.channels"}, NamedValue{"h", "p.height"},
    NamedValue{"w", "p.width"},       NamedValue{"k", "p.maps"},     NamedValue{"r", "p.filter_h"},
    NamedValue{"s", "p.filter_w"},    NamedValue{"p", kRows},        NamedValue{"q", kColumns},
    NamedValue{"stride", "p.stride"},
};
/// Parameter names of the course: M output channels, K x K filters. Used if there is an M and no R.
constexpr std::array kByCourse{
    NamedValue{"b", "p.images"},   NamedValue{"n", "p.images"},      NamedValue{"m", "p.maps"},
    NamedValue{"c", "p.channels"}, NamedValue{"h", "p.height"},      NamedValue{"w", "p.width"},
    NamedValue{"k", "p.filter_h"}, NamedValue{"h_out", kRows},       NamedValue{"w_out", kColumns},
    NamedValue{"s", "p.stride"},   NamedValue{"stride", "p.stride"},
};
constexpr std::string_view kFunctionForms =
    "convolve(const float* x, const float* w, float* y) with int N, C, H, W, K, R, S or B, M, C, H, W, K after y, and "
    "optionally int stride";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string function_calls(const KernelSource& source) {
  const FileFunction& function = source.functions.front();
  const auto reject = [&](const std::string& why) {
    return bad_input("{}:{}: unsupported signature convolve({}): {}; expected {}", source.path.string(), function.line,
                     function.parameters, why, kFunctionForms);
  };
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(function.list, [&](const FileParameter& each) { return lower(each.name) == name; });
  };
  const std::span<const NamedValue> known =
      named("m") && !named("r") ? std::span<const NamedValue>(kByCourse) : std::span<const NamedValue>(kByMaps);
  constexpr std::array<std::string_view, 3> kArrays{"x", "w", "y"};
  std::string arguments;
  size_t arrays = 0;
  for (const FileParameter& each : function.list) {
    std::string value;
    if (each.type.find('*') != std::string::npos) {
      const bool is_output = each.type.find("const") == std::string::npos;
      if (arrays == kArrays.size() || is_output != (arrays == 2)) {
        throw reject("the arrays must be x, w and y in this order");
      }
      value = kArrays[arrays++];
    } else {
      const auto found = std::ranges::find(known, lower(each.name), &NamedValue::name);
      if (found == known.end()) throw reject(fmt::format("unknown parameter '{}'", each.name));
      value = found->value;
    }
    arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", value);
  }
  if (arrays != kArrays.size()) throw reject("expected three arrays");
  return fmt::format(
      "static void convlab_forward(float* y, float* x, float* w, const convlab::FileProblem& p) {{\n"
      "  {}convolve({});\n}}\n"
      "extern \"C\" const convlab::FileEntry convlab_kernel_file = {{convlab_forward, {}, 0, 0, 0, convlab_finish, "
      "convlab_release}};\n",
      function.scope.empty() ? "" : function.scope + "::", arguments, source.cuda ? "false" : "true");
}

}  // namespace

std::string headers_before(FileKind kind, bool cuda) {
  if (kind == FileKind::own) return "";
  if (kind == FileKind::program) {
    // convlab's own headers are not for nvcc.
    return cuda ? "#define CONVLAB_SIMT_PROGRAM\n#include <cuda_runtime.h>\n"
                  "#include \"convlab/simt/cuda/nvcc_macros.h\"\n"
                : "";
  }
  return fmt::format("#include <{}>\n#include \"convlab/kernel_file/entry.h\"\n{}", cuda ? "cuda_runtime.h" : "cmath",
                     kind == FileKind::mxnet ? "#include \"convlab/kernel_file/include/mxnet/base.h\"\n" : "");
}

std::string declarations_before(const KernelSource& source) {
  if (source.kind != FileKind::minidnn || source.defines_class) return "";
  std::string scope, members;
  for (const FileFunction& function : source.functions) {
    if (function.scope.empty()) continue;
    scope = function.scope;
    members += fmt::format("  void {}({});\n", function.name, function.parameters);
  }
  return scope.empty() ? "" : fmt::format("class {} {{\n public:\n{}}};\n", scope, members);
}

std::string calls_of(const KernelSource& source) {
  const std::string finish = source.cuda ? kFinishOnDevice : kFinishOnHost;
  switch (source.kind) {
    case FileKind::own:
    case FileKind::program:
      break;
    case FileKind::mxnet:
      return finish + mxnet_calls(source);
    case FileKind::minidnn:
      return finish + minidnn_calls(source);
    case FileKind::function:
      return finish + function_calls(source);
  }
  return "";
}

}  // namespace convlab
