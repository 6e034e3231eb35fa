// Measures configurations of a network, and kernels for its steps, and chooses the fastest.

#include "app/networks/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "app/networks/model_inputs.h"
#include "convlab/base/clock.h"
#include "convlab/base/text.h"
#include "convlab/kernels/step_text.h"
#include "convlab/measure/pick.h"
#include "convlab/measure/summary.h"
#include "convlab/plan/plan_file.h"
#include "convlab/session/ready_model.h"

namespace convlab::app {
namespace {

/// Shares of the total seconds for the parts of the work.
constexpr double kForWays = 0.25, kForKernels = 0.55, kForTheEnd = 0.2;

/// Configurations are compared on at most this many images.
constexpr int64_t kMostImagesOfWays = 1024;

constexpr int kTrials = 2;  // the first one has cold caches

/// A network to time on these inputs, which must outlive it.
class Candidate {
 public:
  Candidate(Graph graph, const std::vector<Tensor>& inputs, Device& device, EngineOptions engine)
      : inputs_(inputs), images_(images_of(inputs[0].shape())) {
    engine.same_count = true;
    model_ = std::make_unique<ReadyModel>(std::move(graph), shapes_of(inputs), device, engine);
  }

  const Plan& plan() const { return model_->plan(); }
  bool splits() const { return model_->splits(); }

  /// Returns the distinct batch sizes.
  std::vector<int64_t> batches() const { return model_->batches(images_); }

  /// Runs one pass and returns its seconds: in total, or by step of plan().
  double time_once() {
    const Clock::time_point begin = Clock::now();
    model_->run(inputs_);
    return seconds_since(begin);
  }
  std::vector<double> time_steps_once() {
    std::vector<Tensor> outputs = model_->make_outputs(images_);
    return model_->run_timed(input_addresses(inputs_), images_, output_addresses(outputs));
  }

 private:
  const std::vector<Tensor>& inputs_;
  int64_t images_;
  std::unique_ptr<ReadyModel> model_;
};

/// Returns the first `images` images of each input.
std::vector<Tensor> first_images(const std::vector<Tensor>& inputs, int64_t images) {
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) {
    Shape shape = input.shape();
    if (shape.empty() || shape[0] <= images) {
      result.push_back(input.clone());
      continue;
    }
    shape[0] = images;
    Tensor& some = result.emplace_back(input.type(), shape);
    std::memcpy(some.raw(), input.raw(), some.bytes());
  }
  return result;
}

/// Calls take(i) for each i below `ways`, in rounds of alternating direction, so that a machine that slows down slows
/// all. Ends after `seconds`, but not before kLeastTurns rounds, which a decision needs, unless these take more than
/// kPatience times as long.
template <class Take>
void run_interleaved(size_t ways, double seconds, Take take) {
  constexpr size_t kMostTurns = 200;
  constexpr double kPatience = 4;
  const Clock::time_point begin = Clock::now();
  for (size_t turn = 0; turn < kMostTurns; ++turn) {
    const double limit =
        turn == 0 ? std::numeric_limits<double>::infinity() : seconds * (turn < kLeastTurns ? kPatience : 1);
    if (seconds_since(begin) >= limit) return;
    for (size_t i = 0; i < ways; ++i) take(turn % 2 == 0 ? i : ways - 1 - i);
  }
}

class Tuner {
 public:
  explicit Tuner(const TuneRequest& request) : request_(request) {}

  Tuned run() {
    choose_way();
    const std::unique_ptr<Candidate> whole = run_of(request_.inputs, engine_of(result_.ways[result_.way]));
    const std::vector<int64_t> sizes = whole->batches();
    for (const int64_t images : sizes) tune_kernels(images, kForKernels / static_cast<double>(sizes.size()));
    compare_with_planner();
    return std::move(result_);
  }

 private:
  std::unique_ptr<Candidate> run_of(const std::vector<Tensor>& inputs, const EngineOptions& engine) const {
    return std::make_unique<Candidate>(request_.graph.clone(), inputs, request_.device, engine);
  }

  EngineOptions engine_of(const TunedWay& way) const {
    EngineOptions engine = request_.engine;
    engine.batch = way.batch;
    engine.plan.channel_lanes = way.channel_lanes;
    return engine;
  }

  double seconds(double share) const { return request_.seconds * share; }

  /// Whether the opposite of `own.channel_lanes` would lead to a different plan.
  bool has_other_layouts(const std::vector<Tensor>& inputs, TunedWay own) const {
    const PlanOptions& plan = request_.engine.plan;
    if (own.channel_lanes) return true;
    if (plan.mode == PlanMode::layers || (plan.math != Math::fp32 && plan.math != Math::bf16)) return false;
    own.channel_lanes = true;
    const std::unique_ptr<Candidate> other = run_of(inputs, engine_of(own));
    return std::ranges::any_of(other->plan().steps, [](const PlanStep& step) {
      return step.is_conv() && (step.kernel->format == kNchw8c || step.kernel->format.order == Order::nhwc);
    });
  }

  /// Returns the planner's own configuration first, then those with other batch sizes and layouts.
  std::vector<TunedWay> possible_ways(const std::vector<Tensor>& inputs) const {
    const std::unique_ptr<Candidate> own = run_of(inputs, request_.engine);
    // Images beyond a multiple of 16 are a batch of their own, so a full batch may be larger than any that is computed.
    const int64_t largest = own->batches().front();
    std::vector<TunedWay> ways{{.batch = largest, .channel_lanes = own->plan().channel_lanes}};
    if (request_.device.caps().runs_cuda()) return ways;
    std::vector<int64_t> batches{largest};
    for (int64_t batch = 1; batch <= images_of(inputs[0].shape()) && own->splits() && request_.engine.batch == 0;
         batch *= 2) {
      if (batch != largest) batches.push_back(batch);
    }
    const bool both = has_other_layouts(inputs, ways[0]);
    for (const int64_t batch : batches) {
      for (const bool channels : {ways[0].channel_lanes, !ways[0].channel_lanes}) {
        const bool is_own = batch == ways[0].batch && channels == ways[0].channel_lanes;
        if (!is_own && (both || channels == ways[0].channel_lanes)) ways.push_back({batch, channels});
      }
    }
    return ways;
  }

  void choose_way() {
    const std::vector<Tensor> inputs = first_images(request_.inputs, kMostImagesOfWays);
    std::vector<TunedWay>& ways = result_.ways = possible_ways(inputs);
    std::vector<std::vector<double>> times(ways.size());
    std::vector<size_t> good;  // those to measure further, interleaved
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < ways.size() && ways.size() > 1; ++i) {
      request_.tell(fmt::format("batches of {}, '{}' layouts", ways[i].batch, family_name(ways[i].channel_lanes)));
      const std::unique_ptr<Candidate> run = run_of(inputs, engine_of(ways[i]));
      double least = run->time_once();
      for (int trial = 1; trial < kTrials && least < 2 * kTooSlow * best; ++trial) {
        least = std::min(least, run->time_once());
      }
      times[i].push_back(least);
      best = std::min(best, least);
    }
    for (size_t i = 0; i < ways.size(); ++i) {
      if (i == 0 || times[i][0] <= kTooSlow * best) good.push_back(i);
    }
    if (good.size() > 1) {
      request_.tell(fmt::format("{} configurations, interleaved", good.size()));
      std::vector<std::unique_ptr<Candidate>> runs;
      for (const size_t way : good) {
        runs.push_back(run_of(inputs, engine_of(ways[way])));
        runs.back()->time_once();
        times[way].clear();
      }
      run_interleaved(good.size(), seconds(kForWays),
                      [&](size_t i) { times[good[i]].push_back(runs[i]->time_once()); });
    }
    if (ways.size() == 1) times[0] = {0};
    const Pick pick = pick_way(times);
    for (size_t i = 0; i < ways.size(); ++i) ways[i].seconds = median(times[i]);
    result_.way = pick.taken;
    result_.why = pick.why;
  }

  /// Chooses a kernel for each convolution of a batch of `images` images, and for each other step that several kernels
  /// can compute.
  void tune_kernels(int64_t images, double share) {
    const std::vector<Tensor> inputs = first_images(request_.inputs, images);
    EngineOptions engine = engine_of(result_.ways[result_.way]);
    engine.batch = images;
    const std::unique_ptr<Candidate> own = run_of(inputs, engine);
    std::vector<Contest> contests;
    for (size_t i = 0; i < own->plan().steps.size(); ++i) {
      const PlanStep& step = own->plan().steps[i];
      if (step.is_conv() || step.fitting.size() > 1) contests.emplace_back(step, i);
    }
    const PlanChoice frame{.inputs = own->plan().inputs, .channel_lanes = own->plan().channel_lanes};
    const auto run_with = [&](size_t number) {
      auto choices = std::make_shared<PlanChoices>(PlanChoices{.place = "tune", .plans = {frame}});
      for (const Contest& contest : contests) contest.add_to(choices->plans[0], contest.choice_of(number));
      EngineOptions chosen = engine;
      chosen.plan.choices = std::move(choices);
      return run_of(inputs, chosen);
    };
    const auto most_rivals = [&] {
      size_t most = 0;
      for (const Contest& contest : contests) most = std::max(most, contest.rivals.size());
      return most;
    };
    request_.tell(fmt::format("{} step{} of {} image{}, up to {} kernel{} each", contests.size(),
                              contests.size() == 1 ? "" : "s", images, images == 1 ? "" : "s", most_rivals(),
                              most_rivals() == 1 ? "" : "s"));
    for (size_t number = 0; number < most_rivals(); ++number) {
      const std::unique_ptr<Candidate> run = run_with(number);
      for (int trial = 0; trial < kTrials; ++trial) {
        const std::vector<double> times = run->time_steps_once();
        for (Contest& contest : contests) contest.note(number, times);
      }
    }
    for (Contest& contest : contests) contest.leave_out_the_slow();
    if (most_rivals() > 1) {
      request_.tell(fmt::format("{} of them, interleaved", most_rivals()));
      std::vector<std::unique_ptr<Candidate>> runs;
      for (size_t number = 0; number < most_rivals(); ++number) {
        runs.push_back(run_with(number));
        runs.back()->time_once();
      }
      run_interleaved(runs.size(), seconds(share), [&](size_t number) {
        const std::vector<double> times = runs[number]->time_steps_once();
        for (Contest& contest : contests) contest.note(number, times);
      });
    }
    PlanChoice& plan = result_.choices.plans.emplace_back(frame);
    for (const Contest& contest : contests) contest.add_to(plan, contest.winner());
  }

  /// Times the whole network with the planner's choices and with the tuned ones.
  void compare_with_planner() {
    request_.tell(result_.changed() ? "the tuned network and the planner's" : "the planner's network");
    EngineOptions chosen = request_.engine;
    chosen.batch = result_.batch();
    chosen.plan.choices = std::make_shared<PlanChoices>(result_.choices);
    std::vector<std::unique_ptr<Candidate>> runs;
    runs.push_back(run_of(request_.inputs, request_.engine));
    if (result_.changed()) runs.push_back(run_of(request_.inputs, chosen));
    std::vector<std::vector<double>> times(runs.size());
    for (const std::unique_ptr<Candidate>& run : runs) run->time_once();
    run_interleaved(runs.size(), seconds(kForTheEnd), [&](size_t i) { times[i].push_back(runs[i]->time_once()); });
    result_.planned_s = median(times.front());
    result_.tuned_s = median(times.back());
  }

  /// A step, and the kernels that compete for it.
  struct Contest {
    Contest(const PlanStep& planned, size_t place) : step(planned), at(place) {
      for (const Kernel* kernel : planned.fitting) {
        // The reference kernel is never the fastest, and takes seconds where others take milliseconds.
        const bool is_reference = kernel->is_conv() && kernel->info.rung == 0;
        if (kernel == planned.kernel || !is_reference) rivals.push_back({kernel, {}});
      }
    }

    struct Rival {
      const Kernel* kernel;
      std::vector<double> times;
    };

    /// Returns the kernel for run `number`; if there are fewer kernels than runs, some run again.
    KernelChoice choice_of(size_t number) const {
      return {.step = printable(step.name),
              .problem = problem_text(step.what),
              .kernel = std::string(rivals[number % rivals.size()].kernel->info.name)};
    }

    void add_to(PlanChoice& plan, KernelChoice choice) const {
      (step.is_conv() ? plan.kernels : plan.others).push_back(std::move(choice));
    }

    void note(size_t number, const std::vector<double>& times) {
      if (number < rivals.size()) rivals[number].times.push_back(times[at]);
    }

    /// After the trials: kernels that are much slower than the fastest keep only their least time, and the others start
    /// over.
    void leave_out_the_slow() {
      double best = std::numeric_limits<double>::infinity();
      for (Rival& rival : rivals) {
        rival.times = {*std::ranges::min_element(rival.times)};
        best = std::min(best, rival.times[0]);
      }
      const auto slow = std::stable_partition(rivals.begin() + 1, rivals.end(),
                                              [&](const Rival& rival) { return rival.times[0] <= kTooSlow * best; });
      given_up.assign(std::make_move_iterator(slow), std::make_move_iterator(rivals.end()));
      rivals.erase(slow, rivals.end());
      if (rivals.size() == 1) return;  // no rounds may follow, so it keeps its time
      for (Rival& rival : rivals) rival.times.clear();
    }

    KernelChoice winner() const {
      std::vector<const Rival*> all;
      std::vector<std::vector<double>> times;
      for (const std::vector<Rival>* some : {&rivals, &given_up}) {
        for (const Rival& rival : *some) {
          all.push_back(&rival);
          times.push_back(rival.times);
        }
      }
      const Pick pick = pick_way(times);
      KernelChoice choice = choice_of(pick.taken);
      choice.ms = median(times[pick.taken]) * 1e3;
      if (pick.next) {
        choice.next = all[*pick.next]->kernel->info.name;
        choice.next_ms = median(times[*pick.next]) * 1e3;
      }
      choice.why = pick.why;
      return choice;
    }

    PlanStep step;
    size_t at;  ///< index of the plan's step
    std::vector<Rival> rivals, given_up;
  };

  const TuneRequest& request_;
  Tuned result_;
};

}  // namespace

bool Tuned::changed() const {
  const auto is_faster = [](const KernelChoice& choice) { return choice.why == kFaster; };
  return way != 0 || std::ranges::any_of(choices.plans, [&](const PlanChoice& plan) {
           return std::ranges::any_of(plan.kernels, is_faster) || std::ranges::any_of(plan.others, is_faster);
         });
}

Tuned tune_network(const TuneRequest& request) { return Tuner(request).run(); }

}  // namespace convlab::app
