// SDDMM of me_tcf without bitmaps, the baseline of Libra's write-back (section 5.4.5, table 6): lanes find
// their results by traversing the ids of each tile, as in DTC-SpMM (ASPLOS 2024). Otherwise
// cuda.me_tcf.sddmm.
#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/papers/acc/acc.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Tiles of 16x8 with the ids of their nonzeros, 8 * row + column, in ascending order.
struct SddmmIds16 {
  static constexpr int kHalves = 2;
  struct Mask {
    const std::uint8_t* ids;
    std::uint32_t count;
  };

  static __device__ __forceinline__ Mask mask(const TilePart& part, std::int64_t tile) {
    const std::uint32_t begin = __ldg(part.tile_value + tile);
    return {part.local_ids + begin, __ldg(part.tile_value + tile + 1) - begin};
  }
  /// Returns the id of the lane's first result. The others are 4, 8 and 12 rows below.
  static __device__ __forceinline__ std::uint32_t bit_of(int group, int member) {
    return static_cast<std::uint32_t>(8 * member + group);
  }
  static __device__ __forceinline__ ResultPlaces<2> places(const Mask& mask, std::uint32_t first,
                                                           int /*group*/) {
    ResultPlaces<2> p{};
    p.count = mask.count;
#pragma unroll 1
    for (std::uint32_t i = 0; i < mask.count; ++i) {
      const std::uint32_t id = __ldg(mask.ids + i);
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k) {
        if (id != first + 32 * k) continue;
        p.half[k / 2].index[k % 2] = i;
        p.half[k / 2].present[k % 2] = true;
      }
    }
    return p;
  }
};

using Family = SddmmFamily<SddmmIds16>;

template <DType kDense>
constexpr DeviceKernel row(Precision precision, int (*launch)(const Launch&, void*) noexcept) {
  DeviceKernel row = sddmm_instance<kDense, Family::kTileRows>(kMeTcfSddmmDecoded, precision, launch);
  row.schedule = schedule_sddmm_without_masks;
  row.store = nullptr;  // stored schedules have masks
  return row;
}

}  // namespace

std::span<const DeviceKernel> me_tcf_sddmm_decoded_kernels() {
  static constexpr DeviceKernel kRows[] = {row<DType::f32>(Precision::tf32, Family::kF32<false>),
                                           row<DType::f16>(Precision::fp16, Family::kF16<Half>)};
  return kRows;
}

}  // namespace sptile::runtime::cuda
