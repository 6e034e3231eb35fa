#pragma once

struct List {
  int first, second;
};

#include "recursive_sum.h"
