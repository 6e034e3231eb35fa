#pragma once

#include <cstdint>

/// The geometry of cubemaps: which face a direction goes through, and which texels are next to each other across an
/// edge. Faces have the order of cudaGraphicsCubeFace: +x, -x, +y, -y, +z, -z.
namespace convlab::simt::cuda::runtime {

/// A point of a face. `s` and `t` are 0 to 1 within the face.
struct FacePoint {
  int face;
  double s, t;
};

/// Returns the point that a direction goes through: of the face of its largest coordinate, as the table of the CUDA C++
/// Programming Guide has it under "Cubemap Textures". Between equal coordinates CUDA documents no order; here z comes
/// before y, and y before x. The direction (0, 0, 0) has NaN for s and t.
FacePoint face_point(double x, double y, double z);

struct FaceTexel {
  int face;
  int64_t x, y;
};

/// Returns the texel of the next face that is where this one would be, whose x or y is -1 or `size`; not both, because
/// only three texels meet at a corner of a cube.
FaceTexel across_edge(const FaceTexel& texel, int64_t size);

}  // namespace convlab::simt::cuda::runtime
