#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/barrier_primitives.h"

/// nvcuda::experimental::awbarrier, the older form of cuda::barrier: <cuda_awbarrier.h>.
namespace nvcuda::experimental {

class awbarrier {
  using Where = convlab::simt::Where;

 public:
  class arrival_token {
   public:
    arrival_token() = default;
    uint32_t pending_count() const { return __mbarrier_token_pending_count(token_); }

   private:
    explicit arrival_token(__mbarrier_token_t token) : token_(token) {}
    __mbarrier_token_t token_ = 0;
    friend class awbarrier;
  };

  awbarrier() = default;
  awbarrier(const awbarrier&) = delete;
  awbarrier& operator=(const awbarrier&) = delete;

  static constexpr uint32_t max() { return cuda::simt_detail::BarrierState::kMost; }
  friend void init(awbarrier* barrier, uint32_t expected) { __mbarrier_init(&barrier->word_, expected); }
  friend void inval(awbarrier* barrier) { __mbarrier_inval(&barrier->word_); }

  arrival_token arrive(Where where = Where::current()) { return arrival_token(__mbarrier_arrive(&word_, where)); }
  arrival_token arrive_and_drop(Where where = Where::current()) {
    return arrival_token(__mbarrier_arrive_and_drop(&word_, where));
  }
  void wait(arrival_token token, Where where = Where::current()) {
    cuda::simt_detail::block_barrier(&word_).wait(
        static_cast<unsigned>(cuda::simt_detail::BarrierState(token.token_).phase), where);
  }
  void arrive_and_wait(Where where = Where::current()) { wait(arrive(where), where); }
  bool try_wait(arrival_token token, uint32_t, Where where = Where::current()) {
    return __mbarrier_test_wait(&word_, token.token_, where);
  }
  bool try_wait_parity(bool parity, uint32_t, Where where = Where::current()) {
    return __mbarrier_test_wait_parity(&word_, parity, where);
  }
  bool timed_wait(arrival_token token, uint32_t, Where where = Where::current()) {
    return __mbarrier_test_wait(&word_, token.token_, where);
  }
  bool timed_wait_parity(bool parity, uint32_t, Where where = Where::current()) {
    return __mbarrier_test_wait_parity(&word_, parity, where);
  }

 private:
  friend class pipeline;
  __mbarrier_t word_;
};

}  // namespace nvcuda::experimental
