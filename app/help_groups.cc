// Assigns each option to its heading in --help.

#include "app/help_groups.h"

#include <algorithm>

namespace convlab::app {
namespace {

constexpr std::string_view kImages[] = {
    "--channels", "--crop",   "--filter", "--layout",       "--mean", "--pixels",
    "--preset",   "--resize", "--scale",  "--scale-pixels", "--size", "--std",
};

constexpr std::string_view kMeasuring[] = {
    "--against", "--batch",     "--ceilings", "--copies",  "--counted",  "--counters",
    "--csv",     "--gpu-trace", "--graph",    "--machine", "--measured", "--profile",
    "--repeat",  "--samples",   "--seconds",  "--spread",  "--sweep",    "--trace",
};

constexpr std::string_view kAdvanced[] = {
    "--classes", "--data",   "--epilogue", "--expect",      "--plan-file",  "--resume",
    "--shard",   "--stream", "--strict",   "--stuck-after", "--time-limit", "--together",
};

bool contains(auto& options, std::string_view option) {
  return std::ranges::find(options, option) != std::end(options);
}

}  // namespace

std::string_view help_group_of(std::string_view option) {
  const auto [common, images, measuring, advanced] = kHelpGroups;
  if (contains(kImages, option)) return images;
  if (contains(kMeasuring, option)) return measuring;
  if (contains(kAdvanced, option)) return advanced;
  return common;
}

}  // namespace convlab::app
