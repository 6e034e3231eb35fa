// The gravitational acceleration of 16384 bodies by each other.
#include <cstdio>
#include <vector>

__global__ void accelerate(const float4* bodies, float3* accelerations, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = bodies[i];
  float3 sum = {0, 0, 0};
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
    const float inverse = 1.0f / sqrtf(x * x + y * y + z * z + 1e-3f), factor = other.w * inverse * inverse * inverse;
    sum.x += factor * x;
    sum.y += factor * y;
    sum.z += factor * z;
  }
  accelerations[i] = sum;
}

int main() {
  constexpr int n = 16384;
  std::vector<float4> bodies(n);
  for (int i = 0; i < n; ++i) bodies[i] = {i % 16 * 1.0f, i / 16 % 16 * 1.0f, i / 256 * 1.0f, 1.0f};
  std::vector<float3> accelerations(n);
  float4* device_bodies;
  float3* device_accelerations;
  cudaMalloc(&device_bodies, n * sizeof(float4));
  cudaMalloc(&device_accelerations, n * sizeof(float3));
  cudaMemcpy(device_bodies, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
  accelerate<<<n / 128, 128>>>(device_bodies, device_accelerations, n);
  cudaMemcpy(accelerations.data(), device_accelerations, n * sizeof(float3), cudaMemcpyDeviceToHost);
  std::printf("%.3f\n", accelerations[1].y);
  cudaFree(device_bodies);
  cudaFree(device_accelerations);
}
