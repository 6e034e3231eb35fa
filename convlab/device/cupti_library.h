#pragma once

#include <cupti.h>

#include <string>

namespace convlab {

/// NVIDIA's CUPTI library and its functions, as cupti.h declares them. It comes with the CUDA toolkit and not with the
/// driver, so it is loaded only for profiling; it stays loaded.
class CuptiLibrary {
 public:
  /// Loads the library from the program's directory, the dynamic loader's search path, or the toolkit's usual install
  /// directories. Throws Error(unavailable) with the paths that were searched, or with the version found if it is not
  /// this build's.
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

  /// Returns any other function of the library. Throws Error(unavailable) if there is none with this name.
  void* find(const char* name) const;

  /// Loads the libraries in CUPTI's directory that it needs for hardware counters, if they exist.
  void load_neighbors() const;

  std::string words_of(CUptiResult result) const;

  /// Throws Error(unavailable) with `what` and CUPTI's message unless `result` is success.
  void check(CUptiResult result, const char* what) const;

 private:
  template <class Function>
  void load(Function& function, const char* name);

  void* library_ = nullptr;
};

}  // namespace convlab
