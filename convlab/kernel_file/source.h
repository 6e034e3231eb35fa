#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// The kind of a kernel file, detected from its content.
///
///   own       registers itself with RegisterKernel, as every file in convlab/kernels does
///   mxnet     the course's files from 2017 to 2019: a function template `forward` on mshadow::Tensors, for GPUs
///             (new-forward.cuh) or for CPUs (new-forward.h)
///   minidnn   the course's files since 2020: GPUInterface::conv_forward_gpu, optionally with conv_forward_gpu_prolog
///             and conv_forward_gpu_epilog, or conv_forward_cpu
///   function  void convolve(const float* x, const float* w, float* y, shape...), on device memory if the file has
///             CUDA kernels, otherwise on host memory
///   program   a source file of a whole program, with or without main(); never detected
enum class FileKind : uint8_t { own, mxnet, minidnn, function, program };

std::string_view name_of(FileKind kind);

/// Whether it is a format of the course.
constexpr bool is_of_course(FileKind kind) { return kind == FileKind::mxnet || kind == FileKind::minidnn; }

/// A parameter as written in the file: {"const float *", "host_y"}.
struct FileParameter {
  std::string type, name;
};

/// A function that convlab calls in a file.
struct FileFunction {
  std::string name;        ///< "conv_forward_gpu_prolog"
  std::string scope;       ///< "GPUInterface" if the file defines it as GPUInterface::NAME, otherwise ""
  std::string parameters;  ///< "const float *host_y, ...": the whole list
  std::vector<FileParameter> list;
  int line = 0;

  /// Returns the number of integer parameters.
  int number_count() const;
};

/// A user's kernel file, parsed.
struct KernelSource {
  std::filesystem::path path;
  std::string text;
  FileKind kind{};
  bool cuda = false;                ///< for GPUs (and simt); otherwise for CPUs
  std::string semester;             ///< mxnet: "fa17" to "fa19"; minidnn: "sp25"; otherwise ""
  bool semester_is_guess = false;   ///< the file does not identify its semester
  bool defines_class = false;       ///< minidnn: the file, or a header next to it, defines the class of its functions
  bool half = false, tf32 = false;  ///< computes in fp16 or TF32, judging by its text
  std::vector<FileFunction> functions;  ///< its entry points

  /// Returns the entry point of this name, or nullptr.
  const FileFunction* find(std::string_view name) const;
};

/// Returns whether the name ends like a C++ or CUDA file: ".cu", ".cuh", ".cc", ...
bool has_source_suffix(std::string_view name);

/// Returns whether an argument that may be a kernel's name is a file: it contains a folder or has a source suffix.
bool names_kernel_file(std::string_view text);

/// Returns the text of a source file without the byte order mark with which some editors begin it.
std::string read_source_text(const std::filesystem::path& path);

/// Reads a file. Throws Error(bad_input) with the supported entry points if it is not a kernel file, or has entry
/// points of two kinds.
KernelSource read_kernel_source(const std::filesystem::path& path);

/// Reads a source file of a whole program. `cuda`: it has CUDA code. Throws Error(bad_input) if it is not a text file.
KernelSource read_program_source(const std::filesystem::path& path, bool cuda);

/// Like read_kernel_source(), for the given text.
KernelSource parse_kernel_source(std::string text, const std::filesystem::path& path);

}  // namespace convlab
