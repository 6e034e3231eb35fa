#pragma once

constexpr int kBins = 16;

/// Counts how many of the n values, 0 to kBins - 1, fall into each bin. All arrays are device memory.
void count_values(const unsigned char* values, int n, int* bins);
