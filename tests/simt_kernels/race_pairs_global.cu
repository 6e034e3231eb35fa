// Race pairs: threads of a block race on global memory.

#include "tests/simt_kernels/race_pairs.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

template <bool kRight>
__global__ void reversed_array(RaceData d) {
  d.w[threadIdx.x] = d.x[threadIdx.x];
  if (kRight) __syncthreads();
  d.y[threadIdx.x] = d.w[63 - threadIdx.x];
}

template <bool kRight>
__global__ void neighbor_in_the_warp(RaceData d) {
  d.w[threadIdx.x] = d.x[threadIdx.x];
  if (kRight) __syncwarp();
  d.y[threadIdx.x] = d.w[threadIdx.x ^ 1];
}

template <bool kRight>
__global__ void neighbor_in_another_warp(RaceData d) {
  d.w[threadIdx.x] = d.x[threadIdx.x];
  if (kRight) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  d.y[threadIdx.x] = d.w[threadIdx.x ^ 32];
}

template <bool kRight>
__global__ void tree_in_an_array(RaceData d) {
  int* own = d.w + 128 * blockIdx.x;
  own[threadIdx.x] = d.x[threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
    if (kRight) __syncthreads();
  }
  if (threadIdx.x == 0) d.y[blockIdx.x] = own[0];
}

// Code from before Volta, when the lanes of a warp ran in lockstep.
template <bool kRight>
__global__ void volatile_tree_in_an_array(RaceData d) {
  volatile int* own = d.w + threadIdx.x;
  own[0] = d.x[threadIdx.x];
  if (kRight) __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (threadIdx.x < half) own[0] = own[0] + own[half];
    if (kRight) __syncwarp();
  }
  if (threadIdx.x == 0) d.y[0] = own[0];
}

template <bool kRight>
__global__ void prefix_sums_in_an_array(RaceData d) {
  d.w[threadIdx.x] = d.x[threadIdx.x];
  __syncthreads();
  for (int reach = 1; reach < 64; reach *= 2) {
    const int before = threadIdx.x >= reach ? d.w[threadIdx.x - reach] : 0;
    if (kRight) __syncthreads();
    d.w[threadIdx.x] += before;
    __syncthreads();
  }
}

template <bool kRight>
__global__ void histogram_in_an_array(RaceData d) {
  int* bin = &d.y[d.x[threadIdx.x] % 8];
  if (kRight) {
    atomicAdd(bin, 1);
  } else {
    *bin += 1;
  }
}

// Each node adds to its neighbors.
template <bool kRight>
__global__ void push_along_edges(RaceData d) {
  const int node = threadIdx.x;
  for (int edge = d.row[node]; edge < d.row[node + 1]; ++edge) {
    if (kRight) {
      atomicAdd(&d.y[d.col[edge]], d.x[node]);
    } else {
      d.y[d.col[edge]] += d.x[node];
    }
  }
}

// Each node reads its neighbors: their values of the previous step, or whatever is there.
template <bool kRight>
__global__ void pull_along_edges(RaceData d) {
  const int node = threadIdx.x;
  d.w[node] = d.x[node];
  __syncthreads();
  int least = d.w[node];
  for (int edge = d.row[node]; edge < d.row[node + 1]; ++edge) least = min(least, d.w[d.col[edge]]);
  int* to = kRight ? d.y : d.w;
  to[node] = least;
}

template <bool kRight>
__global__ void labels_of_components(RaceData d) {
  const int node = threadIdx.x;
  d.y[node] = node;
  __syncthreads();
  for (int edge = d.row[node]; edge < d.row[node + 1]; ++edge) {
    int* label = &d.y[d.col[edge]];
    if (kRight) {
      atomicMin(label, node);
    } else if (*label > node) {
      *label = node;
    }
  }
}

// Each node's pointer skips its successor.
template <bool kRight>
__global__ void jumping_pointers(RaceData d) {
  d.w[threadIdx.x] = (threadIdx.x + 5) % 64;
  __syncthreads();
  const int after_next = d.w[d.w[threadIdx.x]];
  if (kRight) __syncthreads();
  d.w[threadIdx.x] = after_next;
}

// Nodes of the next step of a breadth-first search.
template <bool kRight>
__global__ void frontier(RaceData d) {
  int* tail = d.w;
  if (d.x[threadIdx.x] < 16) return;
  int place = 0;
  if (kRight) {
    place = atomicAdd(tail, 1);
  } else {
    place = (*tail)++;
  }
  d.y[place] = threadIdx.x;
}

template <bool kRight>
__global__ void visited_once(RaceData d) {
  int* visited = &d.w[d.x[threadIdx.x]];
  bool first = false;
  if (kRight) {
    first = atomicExch(visited, 1) == 0;
  } else {
    first = *visited == 0;
    *visited = 1;
  }
  if (first) atomicAdd(d.y, 1);
}

template <bool kRight>
__global__ void something_has_changed(RaceData d) {
  if (d.x[threadIdx.x] < 8) return;
  if (kRight) {
    atomicOr(d.y, 1);
  } else {
    d.y[0] = 1;
  }
}

template <bool kRight>
__global__ void stencil_in_an_array(RaceData d) {
  d.w[threadIdx.x] = d.x[threadIdx.x];
  __syncthreads();
  const int sum = d.w[threadIdx.x] + d.w[(threadIdx.x + 1) % 64];
  (kRight ? d.y : d.w)[threadIdx.x] = sum;
}

template <bool kRight>
__global__ void sum_read_by_the_last_thread(RaceData d) {
  atomicAdd(d.w, d.x[threadIdx.x]);
  if (kRight) __syncthreads();
  if (threadIdx.x == 63) d.y[0] = d.w[0];
}

// The last thread to arrive adds up what all have stored.
template <bool kRight>
__global__ void last_thread_adds_up(RaceData d) {
  int* left = d.w + 1;
  left[threadIdx.x] = d.x[threadIdx.x];
  if (kRight) __threadfence();
  if (atomicAdd(d.w, 1) != blockDim.x - 1) return;
  int sum = 0;
  for (int i = 0; i < blockDim.x; ++i) sum += left[i];
  d.y[0] = sum;
}

template <bool kRight>
__global__ void wrong_column(RaceData d) {
  const int column = kRight ? threadIdx.x : threadIdx.x / 2 * 2;
  for (int row = 0; row < 3; ++row) d.y[column] += d.x[64 * row + threadIdx.x];
}

template <bool kRight>
__global__ void bytes_of_an_array(RaceData d) {
  auto* bytes = reinterpret_cast<unsigned char*>(d.y);
  bytes[kRight ? threadIdx.x : threadIdx.x / 4 * 4 + threadIdx.x % 3] = static_cast<unsigned char>(d.x[threadIdx.x]);
}

template <bool kRight>
__global__ void vectors_that_overlap(RaceData d) {
  int2 pair = make_int2(d.x[threadIdx.x], d.x[threadIdx.x + 1]);
  *reinterpret_cast<int2*>(d.y + 2 * threadIdx.x) = pair;
  if (!kRight && threadIdx.x == 40) d.y[7] = 0;
}

constexpr RacePair kPairs[] = {
    RACE_PAIR(reversed_array, 1, 64),
    RACE_PAIR(neighbor_in_the_warp, 1, 32),
    RACE_PAIR(neighbor_in_another_warp, 1, 64),
    RACE_PAIR(tree_in_an_array, 2, 64),
    RACE_PAIR(volatile_tree_in_an_array, 1, 32),
    RACE_PAIR(prefix_sums_in_an_array, 1, 64),
    RACE_PAIR(histogram_in_an_array, 2, 64),
    RACE_PAIR(push_along_edges, 1, 64),
    RACE_PAIR(pull_along_edges, 1, 64),
    RACE_PAIR(labels_of_components, 1, 64),
    RACE_PAIR(jumping_pointers, 1, 64),
    RACE_PAIR(frontier, 1, 64),
    RACE_PAIR(visited_once, 1, 64),
    RACE_PAIR(something_has_changed, 1, 64),
    RACE_PAIR(stencil_in_an_array, 1, 64),
    RACE_PAIR(sum_read_by_the_last_thread, 1, 64),
    RACE_PAIR(last_thread_adds_up, 1, 64),
    RACE_PAIR(wrong_column, 1, 64),
    RACE_PAIR(bytes_of_an_array, 1, 64),
    RACE_PAIR(vectors_that_overlap, 1, 64),
};

}  // namespace

std::span<const RacePair> race_pairs_in_global_memory() { return kPairs; }

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
