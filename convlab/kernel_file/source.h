#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// What a kernel file is, told by its content.
///
///   own       registers itself, as every file in convlab/kernels does: RegisterConvKernel
///   mxnet     the course's files of 2017 to 2019: a function template `forward` of mshadow::Tensors, for GPUs
///             (new-forward.cuh) or for CPUs (new-forward.h)
///   minidnn   the course's files since 2020: GPUInterface::conv_forward_gpu, alone or between conv_forward_gpu_prolog
///             and conv_forward_gpu_epilog, or conv_forward_cpu
///   function  void convolve(const float* x, const float* w, float* y, shape...), of device memory if the file has
///             CUDA kernels, and of host memory if it has none
enum class FileKind : uint8_t { own, mxnet, minidnn, function };

std::string_view name_of(FileKind kind);

/// A parameter as the file writes it: {"const float *", "host_y"}.
struct FileParameter {
  std::string type, name;
};

/// A function that convlab calls in a file.
struct FileFunction {
  std::string name;        ///< "conv_forward_gpu_prolog"
  std::string scope;       ///< "GPUInterface" if the file defines it as GPUInterface::NAME, otherwise ""
  std::string parameters;  ///< "const float *host_y, ...": all of them
  std::vector<FileParameter> list;
  int line = 0;

  /// How many of the parameters are whole numbers.
  int number_count() const;
};

/// Somebody's kernel file, read and understood.
struct KernelSource {
  std::filesystem::path path;
  std::string text;
  FileKind kind{};
  bool cuda = false;                    ///< for GPUs (and simt); otherwise for CPUs
  std::string semester;                 ///< of mxnet: "fa17" to "fa19"; of minidnn: "sp25"; otherwise ""
  bool semester_is_guess = false;       ///< nothing in the file tells
  bool defines_class = false;           ///< of minidnn: the file, or a header beside it, has the class of its functions
  bool half = false, tf32 = false;      ///< computes in float16 or TF32, as far as its text tells
  std::vector<FileFunction> functions;  ///< its entry points

  /// The entry point of this name, or nullptr.
  const FileFunction* find(std::string_view name) const;
};

/// Whether the name ends as files of C++ and CUDA do: ".cu", ".cuh", ".cc", ...
bool has_source_suffix(std::string_view name);

/// Whether an argument that may be a kernel's name means a file: it has a folder or the suffix of a source.
bool names_kernel_file(std::string_view text);

/// Reads a file. Error(bad_input), with line and what is known, where it is no kernel, of no kind or of two.
KernelSource read_kernel_source(const std::filesystem::path& path);

/// As read_kernel_source(), of this text.
KernelSource parse_kernel_source(std::string text, const std::filesystem::path& path);

}  // namespace convlab
