#pragma once

#include "recursive_list.h"

template <class L>
__global__ void sum_list(L list, int* sum) {
  *sum = list.first + list.second;
}
