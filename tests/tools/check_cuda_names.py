#!/usr/bin/env python3
"""Tests bench/cuda_names.py: which names it finds in a program, and which it does not."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import cuda_names

PROGRAM = r"""
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <vector>
namespace cg = cooperative_groups;
namespace cute { int own(int); }
#define cudaCheck(x) x
// cudaMallocPitch is not called
/* nor is cudaMalloc3D */
#if 0
cudaMallocArray();
#endif
#ifdef CUBLAS_API_H_
cublasCreate(0);
#endif
__device__ int counter;
__device__ int own(int x) { return __popc(x); }
template <int N>
__global__ void kernel(float4* p) {
  extern __shared__ float tile[];
  auto block = cg::this_thread_block();
  block.sync();
  asm volatile("{ .reg .pred p; @p mov.u32 %0, %%laneid; ld.global.cg.v4.f32 {%0}, [%1]; }" : "=r"(x) : "l"(p));
  if (threadIdx.x == 0) printf("cudaMemcpy2D %d\n", atomicAdd(&counter, 1));
}
int main() {
  cudaError_t cudaStatus = cudaMalloc(&p, 4);
  thing.cudaMember = other->cudaPointer + std::cudaNothing;
  cudaCheck(cudaStatus);
  cute::own(1);
  kernel<4><<<dim3(1, 2), 32, 64, stream>>>(p);
#pragma unroll
  thrust::sort(thrust::device, p, p);
}
"""
EXPECTED = """
<cooperative_groups.h>
<cuda_runtime.h>
__device__
__device__ variable
__global__
__popc
__shared__
asm ld.global.cg
asm mov %laneid
atomicAdd
cooperative_groups .sync()
cooperative_groups::this_thread_block
cudaError_t
cudaMalloc
dim3
extern __shared__
float4
launch with <<<...>>>
launch with a stream
printf in device code
template kernel
threadIdx
thrust::device
thrust::sort
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.cu"
        path.write_text(PROGRAM)
        file = cuda_names.read(path)
    headers = set(file.includes)
    names = cuda_names.names_of([cuda_names.facts_of(file, cuda_names.libraries_of(headers))], headers)
    expected = set(EXPECTED.strip().split("\n"))
    print("missing:", sorted(expected - names), "unexpected:", sorted(names - expected))
    return int(names != expected)


if __name__ == "__main__":
    sys.exit(main())
