#pragma once

#include <filesystem>

#include "convlab/classroom/settings.h"

namespace convlab::classroom {

/// Makes a class: its folder with class.toml, each assignment's problem text, shapes and file to begin with, secrets
/// drawn from the system's entropy, and the database. Error(bad_input) where something is there already or the settings
/// make no sense; then nothing was made.
void create_class(const std::filesystem::path& root, const Settings& settings);

}  // namespace convlab::classroom
