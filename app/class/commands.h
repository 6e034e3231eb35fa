#pragma once

#include "app/command.h"

namespace convlab::app {

// The commands of convlab-class, one per file; the table in main.cc lists them.
Action declare_class_judge(CLI::App& options);

}  // namespace convlab::app
