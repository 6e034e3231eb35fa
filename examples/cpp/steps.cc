// Prints which kernel computes each part of a model, and how long each takes, as JSON: steps [MODEL [DEVICE]]

#include <algorithm>
#include <convlab/convlab.hpp>
#include <cstdio>

int main(int argc, char** argv) try {
  convlab::Session session(argc > 1 ? argv[1] : "fa19", {.device = argc > 2 ? argv[2] : "auto"});
  for (const convlab::Value& input : session.inputs()) {
    std::printf("input %s, sizes:", input.name.c_str());
    for (const int64_t size : input.shape) std::printf(" %lld", static_cast<long long>(size));
    std::printf("\n");
  }

  convlab::Shape shape = session.inputs().front().shape;
  std::ranges::replace_if(
      shape, [](int64_t size) { return size < 0; }, 1);  // sizes that the model leaves open
  convlab::Tensor x = convlab::Tensor::of<float>(shape);
  std::ranges::fill(x.values<float>(), 0.5f);

  std::printf("plan: %s\n", session.plan(x).c_str());
  std::printf("profile: %s\n", session.profile(x, 20).c_str());
  return 0;
} catch (const convlab::Error& error) {
  std::fprintf(stderr, "steps: %s\n", error.what());
  return error.status();
}
