// Runs a model on an array filled with one value and prints the outputs: classify_cpp [MODEL [DEVICE]]

#include <algorithm>
#include <convlab/convlab.hpp>
#include <cstdio>

int main(int argc, char** argv) try {
  convlab::Session session(argc > 1 ? argv[1] : "fa19", {.device = argc > 2 ? argv[2] : "auto"});

  convlab::Shape shape = session.inputs().front().shape;
  std::ranges::replace_if(
      shape, [](int64_t size) { return size < 0; }, 1);  // sizes that the model leaves open
  convlab::Tensor x = convlab::Tensor::of<float>(shape);
  std::ranges::fill(x.values<float>(), 0.5f);

  const convlab::Tensor y = session.run(x);
  for (const float score : y.values<float>()) std::printf("%.6f\n", score);
  return 0;
} catch (const convlab::Error& error) {
  std::fprintf(stderr, "classify_cpp: %s\n", error.what());
  return error.status();
}
