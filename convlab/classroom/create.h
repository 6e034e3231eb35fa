#pragma once

#include <filesystem>

#include "convlab/classroom/class_settings.h"

namespace convlab::classroom {

/// Creates a class: its folder with class.toml, each assignment's problem text, shapes and starter file, secrets drawn
/// from system entropy, and the database. Throws Error(bad_input) if the folder is not empty or the settings are
/// invalid; then nothing is created.
void create_class(const std::filesystem::path& root, const Settings& settings);

}  // namespace convlab::classroom
