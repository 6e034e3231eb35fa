// Creates, reads and writes the secrets of a class.

#include "convlab/classroom/secrets.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/judge/hidden_shapes.h"
#include "convlab/measure/json_members.h"

namespace convlab::classroom {
namespace {

constexpr int64_t kMostSecretBytes = 1 << 16;

}  // namespace

std::string random_hex(int bytes) {
  std::string text;
  for (int i = 0; i < bytes; i += 8) text += fmt::format("{:016x}", entropy());
  return text.substr(0, static_cast<size_t>(bytes) * 2);
}

bool is_secret(std::string_view text) {
  return text.size() == 2 * kSecretBytes && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Secret make_secret(const std::vector<ConvProblem>& layers) {
  KeyedRng random(new_key());
  return {.shapes = judge::hidden_shapes(layers, random)};
}

void write_secret(const std::filesystem::path& path, const Secret& secret) {
  nlohmann::ordered_json json;
  if (secret.seed != 0) json["seed"] = fmt::format("{:016x}", secret.seed);
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
  from.read_if_there("seed", seed);
  from.read("shapes", shapes);
  Secret secret;
  constexpr int kHexadecimal = 16;
  secret.seed = std::strtoull(seed.c_str(), nullptr, kHexadecimal);
  for (const std::string& each : shapes) secret.shapes.push_back(parse_problem(each));
  return secret;
}

}  // namespace convlab::classroom
