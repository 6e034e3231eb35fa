#pragma once

#include <cupti.h>

#include <string>

namespace convlab {

/// NVIDIA's CUPTI, which comes with the CUDA toolkit and not with the driver: loaded only when needed, since a program
/// that does not profile must run without it. Its functions, as cupti.h declares them; it stays loaded.
class CuptiLibrary {
 public:
  /// Error(unavailable) with the places that were searched (beside the program, where the system's loader looks, and
  /// where toolkits are installed), or with the version found where it is not this build's.
  CuptiLibrary();

  decltype(&cuptiActivityEnable) activity_enable = nullptr;
  decltype(&cuptiActivityDisable) activity_disable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) activity_register_callbacks = nullptr;
  decltype(&cuptiActivityFlushAll) activity_flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) activity_next_record = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_external_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_external_id = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;

  /// Any other function of the library. Error(unavailable) where there is none of that name.
  void* find(const char* name) const;

  /// What CUPTI needs beside itself for counters, where there is any.
  void load_neighbours() const;

  std::string words_of(CUptiResult result) const;

  /// Error(unavailable) that says `what` failed, in CUPTI's words, unless `result` is success.
  void check(CUptiResult result, const char* what) const;

 private:
  template <class Function>
  void load(Function& function, const char* name);

  void* library_ = nullptr;
};

}  // namespace convlab
