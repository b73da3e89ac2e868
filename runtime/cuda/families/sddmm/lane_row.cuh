// A row of X or Y in the registers of a team of lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/operands.hpp"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/sddmm/launch.cuh"

namespace sptile::runtime::cuda {

/// Rows of an operand.
template <class Dense>
struct LaneRows {
  const Dense* data;
  std::int64_t ld;
  std::uint32_t bytes;  ///< between rows, if they are aligned
  std::int32_t n;       ///< elements of a row
};

/// kRepeats vectors of 16 bytes of each of kLanes lanes; without kAligned, the same number of single
/// elements, of 4 bytes.
template <class Math, int kLanes, int kRepeats, bool kAligned>
struct LaneRow {
  using Dense = typename Math::Dense;
  static constexpr int kVector = Math::kElements;
  typename Math::Chunk x[kRepeats] = {};

  /// Loads the lane's elements of a row. Vectors past the end of the row keep their values, zero.
  template <Cache kCache = Cache::read_only>
  __device__ void load(const LaneRows<Dense>& rows, std::int32_t row) {
    if constexpr (kAligned) {
      const auto* from = reinterpret_cast<const std::byte*>(rows.data + lane() * kVector) +
                         std::uint64_t{static_cast<std::uint32_t>(row)} * rows.bytes;
      keep(from);  // otherwise computed for each vector
#pragma unroll
      for (int r = 0; r < kRepeats; ++r)
        if (has(r, rows.n))
          x[r] = load_vector<typename Math::Chunk, kCache>(from + r * kLanes * sizeof(uint4));
    } else {
      const Dense* const from = rows.data + row * rows.ld;
#pragma unroll
      for (int r = 0; r < kRepeats; ++r)
#pragma unroll
        for (int e = 0; e < kVector; ++e) {
          const int column = (r * kVector + e) * kLanes + lane();
          x[r].e[e] = column < rows.n ? __ldg(from + column) : Dense{0};
        }
    }
  }

  /// Returns the lane's part of the dot product with another row.
  __device__ float dot(const LaneRow& y) const {
    float sum = 0.0F;
#pragma unroll
    for (int r = 0; r < kRepeats; ++r)
#pragma unroll
      for (int e = 0; e < kVector; ++e) sum += chunk_at<Math>(x[r], e) * chunk_at<Math>(y.x[r], e);
    return sum;
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  /// Returns whether the lane has elements in vector r of a row of n elements, which has whole vectors.
  __device__ static bool has(int r, int n) { return r * kLanes * kVector < n - lane() * kVector; }
};

/// Returns the rows of an operand of a launch.
template <class Dense>
LaneRows<Dense> lane_rows(const Operand& operand, std::int64_t n) {
  return {static_cast<const Dense*>(operand.data), operand.ld,
          static_cast<std::uint32_t>(operand.ld * std::int64_t{sizeof(Dense)}), static_cast<std::int32_t>(n)};
}

/// Returns whether rows of X and Y can be loaded in vectors, with short strides.
template <class Dense>
bool has_lane_vectors(const Launch& launch) {
  return whole_rows(launch, sizeof(Dense)) && short_stride(launch.operands.dense[kSddmmX], sizeof(Dense)) &&
         short_stride(launch.operands.dense[kSddmmY], sizeof(Dense));
}

}  // namespace sptile::runtime::cuda
