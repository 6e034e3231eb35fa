#pragma once

#include <algorithm>

#include "convlab/kernel_file/simt_include/cuda/detail/experimental_barrier.h"
#include "convlab/simt/cuda/group_copies.h"

/// nvcuda::experimental::pipeline, the older form of cuda::pipeline: <cuda_pipeline.h>.
namespace nvcuda::experimental {

class pipeline {
 public:
  pipeline() = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// Commits the copies since the last call as a batch, and returns its number.
  size_t commit() {
    convlab::simt::commit_copies();
    return batches_++;
  }
  void commit_and_wait() {
    commit();
    wait_prior<0>();
  }
  void wait(size_t batch) { convlab::simt::wait_for_copies(batches_ - std::min(batches_, batch + 1)); }
  /// Waits for all batches but the last `Batches`.
  template <unsigned Batches>
  void wait_prior() {
    convlab::simt::wait_for_copies(Batches);
  }
  void arrive_on(awbarrier& barrier, convlab::simt::Where where = convlab::simt::Where::current()) {
    __pipeline_arrive_on(&barrier.word_, where);
  }

 private:
  size_t batches_ = 0;
};

template <class T>
void memcpy_async(T& to, const T& from, pipeline&, convlab::simt::Where where = convlab::simt::Where::current()) {
  const convlab::simt::cuda::cooperative_groups::group_copy copy{reinterpret_cast<char*>(&to),
                                                                 reinterpret_cast<const char*>(&from), 0, 1, where};
  copy.run(sizeof(T));
}

}  // namespace nvcuda::experimental
