#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/families/sddmm/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Launches `kTiles` for the tiles, and the csr kernel for the entries in rows. In one kernel the latter
/// would need the registers that hold the rows of X of 16 rows.
template <DType kDense, DType kResult, auto kTiles>
int launch_apart(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<SddmmHeader>();
  const auto part = [&](std::int64_t items, std::int64_t runs, const auto& start) {
    SddmmHeader wanted = header;
    wanted.item_count = items;
    wanted.runs = runs;
    ScheduleHeader of_part;
    of_part.set(wanted);
    Launch of = launch;
    of.header = &of_part;
    return start(of, stream);
  };
  const int code = part(header.item_count, 0, kTiles);
  return code != cudaSuccess ? code : part(0, header.runs, sddmm_rows_launch({kDense, kResult}));
}

template <class Tiles>
struct ApartFamily {
  static constexpr int kTileRows = Tiles::kTileRows;
  template <bool kSplit>
  static constexpr auto kF32 = launch_apart<DType::f32, DType::f32, Tiles::template kF32<kSplit>>;
  template <class D>
  static constexpr auto kF16 = launch_apart<kDTypeOf<D>, kDTypeOf<D>, Tiles::template kF16<D>>;
  template <class D>
  static constexpr auto kF16ToF32 = launch_apart<kDTypeOf<D>, DType::f32, Tiles::template kF16ToF32<D>>;
};

}  // namespace

std::span<const DeviceKernel> me_tcf_sddmm_kernels() {
  return sddmm_instances<kMeTcfSddmm, SddmmFamily<SddmmMask16>>();
}
std::span<const DeviceKernel> hc_window_sddmm_kernels() {
  return sddmm_instances<kHcWindowSddmm, ApartFamily<SddmmFamily<SddmmMask16>>>();
}
std::span<const DeviceKernel> bmat_sddmm_kernels() {
  return sddmm_instances<kBmatSddmm, SddmmFamily<SddmmWords16>>();
}

}  // namespace sptile::runtime::cuda
