#include "convlab/classroom/secrets.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/rng.h"
#include "convlab/measure/json_members.h"

namespace convlab::classroom {
namespace {

constexpr int kShapes = 4;
constexpr int64_t kMostSide = 40, kMostImages = 3, kMostSecretBytes = 1 << 16;

}  // namespace

uint64_t entropy() {
  uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) {
    throw unavailable("the system gives no random bytes: {}", std::strerror(errno));
  }
  return value;
}

std::string random_hex(int bytes) {
  std::string text;
  for (int i = 0; i < bytes; i += 8) text += fmt::format("{:016x}", entropy());
  return text.substr(0, static_cast<size_t>(bytes) * 2);
}

bool is_secret(std::string_view text) {
  return text.size() == 2 * kSecretBytes && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Secret make_secret(uint64_t seed, const std::vector<ConvProblem>& layers) {
  Secret secret{.seed = seed};
  Rng random(seed);
  for (int i = 0; i < kShapes; ++i) {
    // Of one layer, since a file's arrays may suffice for each layer, but not for the largest numbers of several.
    const ConvProblem& layer = layers[static_cast<size_t>(i) % layers.size()];
    ConvProblem shape;
    shape.n = random.integer(1, kMostImages);
    shape.c = random.integer(1, layer.c);
    shape.k = random.integer(1, layer.k);
    shape.r = layer.r;  // a kernel for the network's filters alone is right
    shape.s = layer.s;
    const int64_t least = std::max(shape.r, shape.s) + 1;
    shape.h = shape.w = random.integer(least, std::max(least, std::min(layer.h, kMostSide)));
    secret.shapes.push_back(shape);
  }
  return secret;
}

void write_secret(const std::filesystem::path& path, const Secret& secret) {
  nlohmann::ordered_json json;
  json["seed"] = fmt::format("{:016x}", secret.seed);
  json["shapes"] = nlohmann::ordered_json::array();
  for (const ConvProblem& each : secret.shapes) json["shapes"].push_back(to_text(each));
  write_file(path, json_text(json, 2) + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

Secret read_secret(const std::filesystem::path& path) {
  const auto json = parse_json(read_text(path, kMostSecretBytes), path.string());
  const JsonMembers from(json, path.string());
  std::string seed;
  std::vector<std::string> shapes;
  from.read("seed", seed);
  from.read("shapes", shapes);
  Secret secret;
  constexpr int kHexadecimal = 16;
  secret.seed = std::strtoull(seed.c_str(), nullptr, kHexadecimal);
  for (const std::string& each : shapes) secret.shapes.push_back(parse_problem(each));
  return secret;
}

}  // namespace convlab::classroom
