#pragma once

/// cuda::std: the host's standard library, which kernels use as host code does, for C++20. Some of it a GPU has not,
/// such as std::vector: it compiles here only. Containers allocate on the device's heap.
namespace std {}
namespace cuda::std {
using namespace ::std;
}
