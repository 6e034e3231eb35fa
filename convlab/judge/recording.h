#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>

#include "convlab/conv/problem.h"
#include "convlab/judge/launch_list.h"
#include "convlab/simt/call_recorder.h"

namespace convlab::judge {

/// 32-bit words that identify their origin: a number scrambled with a key, which a program cannot predict. While a
/// submission is recorded, x, w and everything copied to the host consist of such words, so the recorder can tell where
/// the bytes that the submission passes on come from.
class TellingWords {
 public:
  explicit TellingWords(uint32_t key) : key_(key) {}
  uint32_t word(uint32_t number) const;
  uint32_t number(uint32_t word) const;

 private:
  uint32_t key_;
};

/// Records the list of operations that a submission asks of the device. Addresses, gaps between arrays and words depend
/// on the seed.
class ListRecorder final : public simt::Recorder {
 public:
  ListRecorder(const ConvProblem& problem, uint64_t seed);

  /// Creates x, w and y as device arrays. Call it once, before anything else.
  void put_arrays_on_device();
  float* device_x() { return static_cast<float*>(address_of(kArrayX)); }
  float* device_w() { return static_cast<float*>(address_of(kArrayW)); }
  float* device_y() { return static_cast<float*>(address_of(kArrayY)); }

  /// Fill the host's x and w with words.
  void fill_x(std::span<float> x) const;
  void fill_w(std::span<float> w) const;

  /// Returns the list. `host_y` is the host's y after the call, which was zero-filled before, if the file writes y
  /// there. `library_bias` is the load address of the submission's library. Throws Error(bad_input) with the reason if
  /// a list cannot express what the submission did.
  LaunchList finish(std::span<const float> host_y, uintptr_t library_bias);

  /// Returns whether an address is in the range reserved for this recorder's arrays, which no memory backs.
  static bool is_of_device(const void* address);

  void* allocate(size_t bytes, std::string_view name) override;
  void release(void* memory) override;
  size_t room_at(const void* memory) const override;
  void copy_to_device(void* to, const void* from, size_t bytes) override;
  void copy_to_host(void* to, const void* from, size_t bytes) override;
  void copy_on_device(void* to, const void* from, size_t bytes) override;
  void fill(void* memory, int byte, size_t bytes) override;
  void copy_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                      simt::RangeAccess access) override;
  void launch(const simt::KernelCall& call, const simt::LaunchShape& shape) override;
  void multiply(const simt::Product& product) override;
  void on_stream(const void* stream) override;
  void record_event(const void* event, const void* stream) override;
  void wait_for_event(const void* stream, const void* event) override;
  void synchronize() override;
  void refuse(std::string_view what) override;

 private:
  struct Array {
    int number;
    size_t bytes;
  };
  /// The array that contains an address; `number` is -1 if there is none.
  struct Place {
    int number = -1;
    int64_t offset = 0, room = 0;
  };
  Place place_of(uintptr_t address) const;
  void* address_of(int number) const;
  void* add_array(int number, size_t bytes);
  int stream_number(const void* stream);
  Operation& add(Operation::Kind kind);
  Operation& add_to(Operation::Kind kind, const void* memory, size_t bytes);
  HostBytes source_of(const void* from, size_t bytes) const;
  LaunchArgument argument_of(const char* bytes, const simt::ArgumentPlace& place, std::string_view kernel);
  void say_no(const std::string& why);

  /// Words of one array or download, from a number on.
  struct Words {
    HostBytes::Kind kind;
    int download;
    int64_t count;
  };
  std::map<uint32_t, Words> words_;  // by first number
  uint32_t next_word_ = 0;
  uint32_t add_words(HostBytes::Kind kind, int download, int64_t bytes);
  void write_words(void* to, uint32_t first, size_t bytes) const;

  const ConvProblem problem_;
  TellingWords telling_;
  uint64_t random_;
  uintptr_t next_address_;
  std::map<uintptr_t, Array> arrays_;
  LaunchList list_;
  std::map<const void*, int> streams_{{nullptr, 0}}, events_;
  int stream_ = 0, next_array_ = kFirstArray, downloads_ = 0;
  uint32_t first_x_ = 0, first_w_ = 0;
  uintptr_t bias_ = 0,
            module_address_ = 0;  // load address of the library with the kernels launched so far, and an address in it
  std::string no_;                // the reason why there is no list
};

}  // namespace convlab::judge
