// A row of X or Y in the registers of a team of lanes, in f32.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/vector.cuh"

namespace sptile::runtime::cuda {

/// kRepeats vectors of 16 bytes of each of kLanes lanes; without kAligned, the same number of single
/// elements.
template <int kLanes, int kRepeats, bool kAligned>
struct LaneRow {
  static constexpr int kVector = 4;
  float x[kRepeats][kVector] = {};

  /// Loads the lane's elements of a row of n elements; 0 past the end.
  __device__ void load(const float* row, int n) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll
    for (int r = 0; r < kRepeats; ++r) {
      if constexpr (kAligned) {
        const int first = (r * kLanes + lane) * kVector;
        uint4 bits{};
        if (first < n) bits = load_vector<uint4>(row + first);
        __builtin_memcpy(x[r], &bits, sizeof bits);
      } else {
#pragma unroll
        for (int e = 0; e < kVector; ++e) {
          const int column = (r * kVector + e) * kLanes + lane;
          x[r][e] = column < n ? __ldg(row + column) : 0.0F;
        }
      }
    }
  }

  /// Returns the lane's part of the dot product with another row.
  __device__ float dot(const LaneRow& y) const {
    float sum = 0.0F;
#pragma unroll
    for (int r = 0; r < kRepeats; ++r)
#pragma unroll
      for (int e = 0; e < kVector; ++e) sum += x[r][e] * y.x[r][e];
    return sum;
  }
};

}  // namespace sptile::runtime::cuda
