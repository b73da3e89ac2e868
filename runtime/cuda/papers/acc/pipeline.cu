// SpMM on thread blocks with the pipelines of Acc-SpMM (PPoPP 2025, section 3.4) and of DTC-SpMM (ASPLOS
// 2024). All kernels have the types and the cache policy of Acc-SpMM.
#include <algorithm>

#include "formats/layout/me_tcf.hpp"
#include "runtime/cuda/families/tile/divided.cuh"
#include "runtime/cuda/papers/acc/acc.hpp"
#include "runtime/cuda/papers/acc/balance.hpp"
#include "runtime/cuda/papers/acc/block.cuh"
#include "runtime/cuda/papers/acc/pipelines.cuh"

namespace sptile::runtime::cuda {
namespace {

/// Version of the schedules.
constexpr std::uint32_t kPipelineVersion = 1;

/// Starts the kernel of one variant. Blocks have equal numbers of warps, each with a slice of the columns.
template <class K>
int start_blocks(AccTask task, std::int64_t items, const Launch& launch, void* stream) {
  TileTask& tiles = task.tiles;
  tiles.ldb_bytes = static_cast<std::uint64_t>(tiles.ldb) * sizeof(typename K::Dense);
  tiles.slices = static_cast<std::int32_t>((tiles.n + K::kFeatures - 1) / K::kFeatures);
  tiles.padded_n = std::int64_t{tiles.slices} * K::kFeatures;
  task.block_slices = (tiles.slices + kMaxAccWarps - 1) / kMaxAccWarps;
  const std::int32_t warps =
      std::max((tiles.slices + task.block_slices - 1) / task.block_slices, kMinAccWarps);
  const std::int64_t blocks = items * task.block_slices;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<acc_product<K>>({.blocks = dim3(static_cast<unsigned>(blocks)),
                                       .threads = static_cast<unsigned>(warps * kWarpSize),
                                       .shared_bytes = K::kSharedBytes},
                                      *launch.device, static_cast<cudaStream_t>(stream), task);
}

/// Kernels of one decoder, type of values and order of steps, for operands of any alignment and for aligned
/// ones.
template <template <class> class Decoder, class V, class Pipeline>
struct PipelineTiles {
  using Any = AccKernel<Decoder, V, Pipeline, false>;
  using Aligned = AccKernel<Decoder, V, Pipeline, true>;
  using Instance = TileInstance<Any, Aligned>;

  static TileRequest tiles_of(const ScheduleRequest& request) {
    TileRequest tiles = Instance::tiles_of(request);
    tiles.makes_masks = false;
    return tiles;
  }
  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    return Instance::least_n(header, n);
  }
  static PolicyValues policy(int capability) { return Instance::policy(capability); }

  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->as<TileHeader>();
    AccTask task{};
    task.tiles = tile_task(header, launch);
    task.tile_value = formats::blocks_of(launch.format).tile_value.data();
    if (launch.format.layout == &formats::kMeTcfLayout)
      task.local_ids = formats::as_me_tcf(launch.format).tc_local_id.data();
    const bool whole = aligned<typename Any::Dense, typename Any::Result>(launch, Any::kElements);
    return (whole ? start_blocks<Aligned> : start_blocks<Any>)(task, header.item_count, launch, stream);
  }
};

template <const std::string_view& kKernel, template <class> class Decoder, class V, class Pipeline,
          DivideWindows kDivide>
constexpr DeviceKernel pipeline_row() {
  using Tiles = PipelineTiles<Decoder, V, Pipeline>;
  DeviceKernel row = DividedInstance<Tiles, kDivide, kPipelineVersion>::row(kKernel, Tiles::launch);
  row.values = kDTypeOf<V>;
  row.policy = nullptr;  // the constants of TilePolicy have no effect here
  return row;
}

/// Rows of a kernel: the types of the paper, with or without values.
template <const std::string_view& kKernel, template <class> class Decoder, class Pipeline,
          DivideWindows kDivide>
std::span<const DeviceKernel> pipeline_rows() {
  static constexpr DeviceKernel kRows[] = {pipeline_row<kKernel, Decoder, float, Pipeline, kDivide>(),
                                           pipeline_row<kKernel, Decoder, Ones, Pipeline, kDivide>()};
  return kRows;
}

}  // namespace

std::span<const DeviceKernel> acc_pipeline_kernels() {
  return pipeline_rows<kBitTcfAccPipeline, BitTcfDecoder, LeastBubblePipeline, divide_acc>();
}
std::span<const DeviceKernel> acc_dtc_pipeline_kernels() {
  return pipeline_rows<kBitTcfAccDtcPipeline, BitTcfDecoder, DtcPipeline, divide_acc>();
}
std::span<const DeviceKernel> me_tcf_decoded_kernels() {
  return pipeline_rows<kMeTcfDecoded, MeTcfDecoder, DtcPipeline, divide_acc_windows>();
}
#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> acc_pipeline_windows_kernels() {
  return pipeline_rows<kBitTcfAccPipelineWindows, BitTcfDecoder, LeastBubblePipeline, divide_acc_windows>();
}
std::span<const DeviceKernel> acc_dtc_pipeline_windows_kernels() {
  return pipeline_rows<kBitTcfAccDtcPipelineWindows, BitTcfDecoder, DtcPipeline, divide_acc_windows>();
}
#endif

}  // namespace sptile::runtime::cuda
