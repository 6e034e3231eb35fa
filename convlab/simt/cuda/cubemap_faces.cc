// Computes which face of a cubemap a direction goes through, and which texels are neighbors across an edge.

#include "convlab/simt/cuda/cubemap_faces.h"

#include <algorithm>
#include <cmath>

namespace convlab::simt::cuda::runtime {
namespace {

struct Direction {
  double x, y, z;
};

// Returns the direction through a face, where s and t are -1 to 1 within the face.
Direction direction_through(int face, double s, double t) {
  switch (face) {
    case 0:
      return {1, -t, -s};
    case 1:
      return {-1, -t, s};
    case 2:
      return {s, 1, t};
    case 3:
      return {s, -1, -t};
    case 4:
      return {s, -t, 1};
    default:
      return {-s, -t, -1};
  }
}

}  // namespace

FacePoint face_point(double x, double y, double z) {
  const double ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
  const auto point = [](int face, double s, double t, double largest) {
    return FacePoint{face, (s / largest + 1) / 2, (t / largest + 1) / 2};
  };
  if (az >= ax && az >= ay) return z < 0 ? point(5, -x, -y, az) : point(4, x, -y, az);
  if (ay >= ax) return y < 0 ? point(3, x, -z, ay) : point(2, x, z, ay);
  return x < 0 ? point(1, z, -y, ax) : point(0, -z, -y, ax);
}

FaceTexel across_edge(const FaceTexel& texel, int64_t size) {
  // The direction to the texel's center, had the face one more row of texels, goes through the texel that is meant: it
  // meets the next face less than half a texel from that one's center.
  const auto count = static_cast<double>(size);
  const auto from_middle = [&](int64_t i) { return (2 * static_cast<double>(i) + 1 - count) / count; };
  const Direction to = direction_through(texel.face, from_middle(texel.x), from_middle(texel.y));
  const FacePoint point = face_point(to.x, to.y, to.z);
  const auto index = [&](double at) { return std::min(static_cast<int64_t>(at * count), size - 1); };
  return {point.face, index(point.s), index(point.t)};
}

}  // namespace convlab::simt::cuda::runtime
