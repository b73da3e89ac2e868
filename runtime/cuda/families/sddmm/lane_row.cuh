// A row of X or Y in the registers of a team of lanes, in f32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/operands.hpp"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/sddmm/launch.cuh"

namespace sptile::runtime::cuda {

/// Rows of an operand.
struct LaneRows {
  const float* data;
  std::int64_t ld;
  std::uint32_t bytes;  ///< between rows, if they are aligned
  std::int32_t n;       ///< elements of a row
};

/// kRepeats vectors of 16 bytes of each of kLanes lanes; without kAligned, the same number of single
/// elements.
template <int kLanes, int kRepeats, bool kAligned>
struct LaneRow {
  static constexpr int kVector = 4;
  float x[kRepeats][kVector];  ///< vectors past the end of the row are undefined

  /// Loads the lane's elements of a row.
  __device__ void load(const LaneRows& rows, std::int32_t row) {
    if constexpr (kAligned) {
      const auto* from = reinterpret_cast<const std::byte*>(rows.data + lane() * kVector) +
                         std::uint64_t{static_cast<std::uint32_t>(row)} * rows.bytes;
      keep(from);  // otherwise computed for each vector
#pragma unroll
      for (int r = 0; r < kRepeats; ++r) {
        if (!has(r, rows.n)) continue;
        const auto bits = load_vector<uint4>(from + r * kLanes * sizeof(uint4));
        __builtin_memcpy(x[r], &bits, sizeof bits);
      }
    } else {
      const float* const from = rows.data + row * rows.ld;
#pragma unroll
      for (int r = 0; r < kRepeats; ++r)
#pragma unroll
        for (int e = 0; e < kVector; ++e) {
          const int column = (r * kVector + e) * kLanes + lane();
          x[r][e] = column < rows.n ? __ldg(from + column) : 0.0F;
        }
    }
  }

  /// Returns the lane's part of the dot product with another row of n elements.
  __device__ float dot(const LaneRow& y, int n) const {
    float sum = 0.0F;
#pragma unroll
    for (int r = 0; r < kRepeats; ++r) {
      if (kAligned && !has(r, n)) continue;
#pragma unroll
      for (int e = 0; e < kVector; ++e) sum += x[r][e] * y.x[r][e];
    }
    return sum;
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  /// Returns whether the lane has elements in vector r of a row of n elements, which has whole vectors.
  __device__ static bool has(int r, int n) { return r * kLanes * kVector < n - lane() * kVector; }
};

/// Returns the rows of an operand of a launch.
inline LaneRows lane_rows(const Operand& operand, std::int64_t n) {
  return {static_cast<const float*>(operand.data), operand.ld,
          static_cast<std::uint32_t>(operand.ld * std::int64_t{sizeof(float)}), static_cast<std::int32_t>(n)};
}

/// Returns whether rows of X and Y can be loaded in vectors, with short strides.
inline bool has_lane_vectors(const Launch& launch) {
  return whole_rows(launch, sizeof(float)) && short_stride(launch.operands.dense[kSddmmX], sizeof(float)) &&
         short_stride(launch.operands.dense[kSddmmY], sizeof(float));
}

}  // namespace sptile::runtime::cuda
