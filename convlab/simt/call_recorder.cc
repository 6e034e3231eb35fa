// Holds the recorder of this process.

#include "convlab/simt/call_recorder.h"

#include <atomic>

namespace convlab::simt {
namespace {

std::atomic<Recorder*> recorder_now{nullptr};

}  // namespace

void set_recorder(Recorder* recorder) { recorder_now = recorder; }
Recorder* recorder() { return recorder_now; }

}  // namespace convlab::simt
