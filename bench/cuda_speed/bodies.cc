// The gravitational acceleration of 16384 bodies by each other.
#include <cmath>
#include <cstdio>
#include <vector>

#include "parallel.h"

struct Body {
  float x, y, z, mass;
};
struct Acceleration {
  float x, y, z;
};

int main() {
  constexpr int n = 16384;
  std::vector<Body> bodies(n);
  for (int i = 0; i < n; ++i) bodies[i] = {i % 16 * 1.0f, i / 16 % 16 * 1.0f, i / 256 * 1.0f, 1.0f};
  std::vector<Acceleration> accelerations(n);
  parallel(n, [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      Acceleration sum = {0, 0, 0};
      for (const Body& other : bodies) {
        const float x = other.x - bodies[i].x, y = other.y - bodies[i].y, z = other.z - bodies[i].z;
        const float inverse = 1.0f / std::sqrt(x * x + y * y + z * z + 1e-3f);
        const float factor = other.mass * inverse * inverse * inverse;
        sum.x += factor * x;
        sum.y += factor * y;
        sum.z += factor * z;
      }
      accelerations[i] = sum;
    }
  });
  std::printf("%.3f\n", accelerations[1].y);
}
