// SpMM of rs_tile in its stored windows and pieces. 16-bit operands: the kernel of the paper. f32: the
// machine code of cuda.rs_tile.mma, in tf32, which the paper does not have.
#include "runtime/cuda/papers/rsh/rsh.hpp"

#include <algorithm>
#include <array>

#include "runtime/cuda/families/tile/divided.cuh"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/families/tile/tile8.cuh"
#include "runtime/cuda/instance_parts.hpp"
#include "runtime/cuda/papers/rsh/pieces.hpp"
#include "runtime/cuda/papers/rsh/pipeline.cuh"

namespace sptile::runtime::cuda {
namespace {

/// Version of the divisions.
constexpr std::uint32_t kRshVersion = 1;

/// Tiles of f32 operands, products in tf32; values of type V.
template <class V>
using RshTiles = Direct8::F32<V, false>;

template <const std::string_view& kKernel, DivideWindows kDivide, class V>
constexpr DeviceKernel tf32_row() {
  return DividedInstance<RshTiles<V>, kDivide, kRshVersion>::row(
      kKernel, launch_tf32_of<instances<kRsTileMma>, kDTypeOf<V>>, kDTypeOf<V>);
}

template <class K>
int start_rsh(TileTask task, ShortTask part, const Launch& launch, cudaStream_t stream) {
  task.slices = static_cast<std::int32_t>((task.n + kRshFeatures - 1) / kRshFeatures);
  task.padded_n = std::int64_t{task.slices} * kRshFeatures;
  const std::int32_t warps = std::min(task.slices, kRshMaxWarps);
  if (warps == 0) return cudaSuccess;
  task.blocks_per_pass = task.item_count;
  task.passes = (task.slices + warps - 1) / warps;
  const auto row_lanes = (task.n + K::Math::kElements - 1) / K::Math::kElements;
  part.lanes_per_row = 1;
  while (part.lanes_per_row < std::min<std::int64_t>(row_lanes, kWarpSize)) part.lanes_per_row *= 2;
  const std::int64_t blocks =
      std::int64_t{task.item_count} * task.passes + (part.item_count + warps - 1) / warps;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<rsh_product<K>>({.blocks = dim3(static_cast<unsigned>(blocks)),
                                       .threads = static_cast<unsigned>(warps * kWarpSize),
                                       .shared_bytes = RshShared::kBytes},
                                      *launch.device, stream, task, part);
}

/// The kernel of the paper (section 4.1): 16-bit values or a pattern, 16-bit operands, f32 sums and results.
template <class V, class T>
struct RshInstance : StoredInstance<RshInstance<V, T>, TileHeader, kRshVersion, tile_numbers> {
  static constexpr int kElements = RshKernel<V, T, true>::Math::kElements;
  static constexpr TileVariant kVariants[1] = {{kRshFeatures, kElements, 2048 / kWarpSize, 0}};

  static TileRequest tiles_of(const ScheduleRequest& request) {
    return {.format = request.format,
            .n = request.n,
            .element_bytes = sizeof(T),
            .variants = kVariants,
            .device = request.device,
            .divide = divide_stored};
  }
  static TileHeader append(Schedule& schedule, const ScheduleRequest& request) {
    return append_tiles(schedule, tiles_of(request));
  }
  static TileHeader read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request) {
    return read_tiles(reader, schedule, tiles_of(request));
  }
  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    return tile_least_n(kVariants, header.as<TileHeader>().variant, n);
  }
  static PolicyValues policy(int capability) {
    return policy_values(tile_policy_for(capability, kDTypeOf<T>, 8));
  }
  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->template as<TileHeader>();
    const auto start = aligned<T, float>(launch, kElements) ? start_rsh<RshKernel<V, T, true>>
                                                            : start_rsh<RshKernel<V, T, false>>;
    return start(tile_task(header, launch), short_task(header, launch), launch,
                 static_cast<cudaStream_t>(stream));
  }

  static constexpr DeviceKernel row(Precision precision) {
    return {.kernel = kRsTileRsh,
            .values = kDTypeOf<V>,
            .dense = kDTypeOf<T>,
            .precision = precision,
            .capability = 80,
            .ieee = false,
            .schedule = RshInstance::schedule,
            .launch = launch,
            .least_n = least_n,
            .result = DType::f32,
            .store = &RshInstance::kStore,
            .policy = policy};
  }
};

}  // namespace

std::span<const DeviceKernel> rsh_kernels() {
  static constexpr std::array kRows{tf32_row<kRsTileRsh, divide_stored, float>(),
                                    tf32_row<kRsTileRsh, divide_stored, Ones>(),
                                    RshInstance<Half, Half>::row(Precision::fp16),
                                    RshInstance<Ones, Half>::row(Precision::fp16),
                                    RshInstance<BFloat16, BFloat16>::row(Precision::bf16),
                                    RshInstance<Ones, BFloat16>::row(Precision::bf16)};
  return kRows;
}
#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> rsh_runs_kernels() {
  static constexpr std::array kRows{tf32_row<kRsTileRshRuns, divide_stored_runs, float>(),
                                    tf32_row<kRsTileRshRuns, divide_stored_runs, Ones>()};
  return kRows;
}
#endif

}  // namespace sptile::runtime::cuda
