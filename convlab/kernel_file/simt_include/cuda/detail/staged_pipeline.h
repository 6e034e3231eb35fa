#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/kernel_file/simt_include/cuda/detail/async_contract.h"

/// cuda::pipeline. That of a thread stands for the copy groups of __pipeline_commit(): a stage is awaited by its own
/// thread only, and other threads need a barrier after it. That of a block has two barriers a stage: producers arrive
/// at one, whose phase awaits their copies, and consumers at the other.
namespace cuda {

enum class pipeline_role { producer, consumer };

template <thread_scope Scope, std::uint8_t Stages>
class pipeline_shared_state;

namespace simt_detail {

template <thread_scope Scope>
struct PipelineStage {
  barrier<Scope> produced, consumed;
};

struct pipeline_access {
  template <class State>
  static auto* stages(State* state) {
    return state->stages_;
  }
  template <class State>
  static unsigned* producers(State* state) {
    return &state->producers_;
  }
};

}  // namespace simt_detail

template <thread_scope Scope, std::uint8_t Stages>
class pipeline_shared_state {
  static_assert(Stages > 0, "a pipeline has at least one stage");

 public:
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state&) = delete;
  pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

 private:
  friend struct simt_detail::pipeline_access;
  simt_detail::PipelineStage<Scope> stages_[Stages];
  unsigned producers_;
};

template <thread_scope Scope>
class pipeline {
  using Where = simt_detail::Where;

 public:
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// Waits until the consumers have released the stage.
  void producer_acquire(Where where = Where::current()) {
    if (!produces_) convlab::simt::fail_assertion("producer_acquire() is called by a producer", where);
    stages_[producing_].consumed.wait_parity(!producer_lap_, where);
  }
  void producer_commit(Where where = Where::current()) {
    (void)stages_[producing_].produced.arrive(1, where);
    advance(producing_, producer_lap_);
  }
  void consumer_wait(Where where = Where::current()) {
    if (!consumes_) convlab::simt::fail_assertion("consumer_wait() is called by a consumer", where);
    stages_[consuming_].produced.wait_parity(consumer_lap_, where);
  }
  template <class Duration>
  bool consumer_wait_for(const Duration&, Where where = Where::current()) {
    return stages_[consuming_].produced.try_wait_parity(consumer_lap_, where);
  }
  template <class Time>
  bool consumer_wait_until(const Time&, Where where = Where::current()) {
    return stages_[consuming_].produced.try_wait_parity(consumer_lap_, where);
  }
  void consumer_release(Where where = Where::current()) {
    (void)stages_[consuming_].consumed.arrive(1, where);
    advance(consuming_, consumer_lap_);
  }

  /// The thread leaves: later phases do not expect it.
  bool quit(Where where = Where::current()) {
    for (unsigned stage = 0; stage < count_; ++stage) {
      if (produces_) stages_[stage].produced.arrive_and_drop(where);
      if (consumes_) stages_[stage].consumed.arrive_and_drop(where);
    }
    return true;
  }

  /// The barrier of the stage that is being produced.
  barrier<Scope>& producing() { return stages_[producing_].produced; }

 private:
  pipeline(simt_detail::PipelineStage<Scope>* stages, unsigned count, bool produces, bool consumes)
      : stages_(stages), count_(count), produces_(produces), consumes_(consumes) {}
  void advance(unsigned& stage, bool& lap) const {
    if (++stage < count_) return;
    stage = 0;
    lap = !lap;
  }

  simt_detail::PipelineStage<Scope>* stages_;
  unsigned count_, producing_ = 0, consuming_ = 0;
  bool producer_lap_ = false, consumer_lap_ = false;  // parities of the laps
  bool produces_, consumes_;

  template <class Group, thread_scope S, std::uint8_t Stages>
  friend pipeline<S> make_staged(const Group&, pipeline_shared_state<S, Stages>*, std::size_t, std::size_t, bool, bool,
                                 simt_detail::Where);
};

template <>
class pipeline<thread_scope_thread> {
 public:
  pipeline() = default;
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  void producer_acquire() {}
  void producer_commit() {
    convlab::simt::commit_copies();
    ++committed_;
  }
  /// Waits for the copies of the oldest stage that it has not waited for.
  void consumer_wait() {
    if (waited_ < committed_) wait_prior(committed_ - waited_ - 1);
  }
  template <class Duration>
  bool consumer_wait_for(const Duration&) {
    consumer_wait();
    return true;
  }
  template <class Time>
  bool consumer_wait_until(const Time&) {
    consumer_wait();
    return true;
  }
  void consumer_release() {}
  bool quit() { return true; }

  void wait_prior(std::size_t stages) {
    convlab::simt::wait_for_copies(stages);
    waited_ = committed_ - (stages < committed_ ? stages : committed_);
  }

 private:
  std::size_t committed_ = 0, waited_ = 0;
};

/// Initializes the stages by one thread of the group, and returns the calling thread's part.
template <class Group, thread_scope S, std::uint8_t Stages>
pipeline<S> make_staged(const Group& group, pipeline_shared_state<S, Stages>* state, std::size_t producers,
                        std::size_t consumers, bool produces, bool consumes, simt_detail::Where where) {
  static_assert(S != thread_scope_thread, "a pipeline of a thread has no shared state: use make_pipeline()");
  auto* const stages = simt_detail::pipeline_access::stages(state);
  if (group.thread_rank() == 0) {
    for (unsigned stage = 0; stage < Stages; ++stage) {
      init(&stages[stage].produced, static_cast<std::ptrdiff_t>(producers));
      init(&stages[stage].consumed, static_cast<std::ptrdiff_t>(consumers));
    }
  }
  group.sync(where);
  return pipeline<S>(stages, Stages, produces, consumes);
}

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

/// All threads of the group produce and consume.
template <class Group, thread_scope Scope, std::uint8_t Stages>
pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                              simt_detail::Where where = simt_detail::Where::current()) {
  group.sync(where);
  return make_staged(group, state, group.size(), group.size(), true, true, where);
}
/// The first threads of the group produce, and the others consume.
template <class Group, thread_scope Scope, std::uint8_t Stages>
pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state, std::size_t producers,
                              simt_detail::Where where = simt_detail::Where::current()) {
  group.sync(where);
  const bool produces = group.thread_rank() < producers;
  return make_staged(group, state, producers, group.size() - producers, produces, !produces, where);
}
template <class Group, thread_scope Scope, std::uint8_t Stages>
pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state, pipeline_role role,
                              simt_detail::Where where = simt_detail::Where::current()) {
  unsigned* const producers = simt_detail::pipeline_access::producers(state);
  group.sync(where);
  if (group.thread_rank() == 0) *producers = 0;
  group.sync(where);
  if (role == pipeline_role::producer) atomicAdd_block(producers, 1u, where);
  group.sync(where);
  const unsigned count = *producers;
  const bool produces = role == pipeline_role::producer;
  return make_staged(group, state, count, group.size() - count, produces, !produces, where);
}

/// Waits for all stages but the last `Prior`.
template <std::uint8_t Prior>
void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>& pipe) {
  pipe.wait_prior(Prior);
}

/// The barrier's current phase awaits the copies that the thread has started; it must arrive, too.
template <thread_scope Scope>
void pipeline_producer_commit(pipeline<thread_scope_thread>& pipe, barrier<Scope>& until,
                              simt_detail::Where where = simt_detail::Where::current()) {
  const auto word = simt_detail::barrier_access::word(until);
  convlab::simt::await_copies(word.word, simt_detail::barrier_access::phase(until, where));
  pipe.producer_commit();
}

template <simt_detail::ThreadGroup Group, class To, class From, class Size, thread_scope Scope>
async_contract_fulfillment memcpy_async(const Group& group, To* to, const From* from, const Size& bytes,
                                        pipeline<Scope>& pipe,
                                        simt_detail::Where where = simt_detail::Where::current()) {
  static_assert(std::is_void_v<To> || std::is_trivially_copyable_v<To>, "memcpy_async: T must be trivially copyable");
  if constexpr (Scope == thread_scope_thread) {
    return simt_detail::copy(group, to, from, bytes, nullptr, 0, where);
  } else {
    return memcpy_async(group, to, from, bytes, pipe.producing(), where);
  }
}
template <class To, class From, class Size, thread_scope Scope>
async_contract_fulfillment memcpy_async(To* to, const From* from, const Size& bytes, pipeline<Scope>& pipe,
                                        simt_detail::Where where = simt_detail::Where::current()) {
  return memcpy_async(simt_detail::OneThread{}, to, from, bytes, pipe, where);
}

}  // namespace cuda
