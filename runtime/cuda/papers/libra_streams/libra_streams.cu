// SpMM of libra_spmm with Libra's own balance and scheduling (sections 4.3 and 4.4): rows that several
// segments add to are set to beta * C first; then both parts run, on one stream or on two. What is added by
// atomic operations comes in any order, so the last bits of the sums differ from run to run.
#include "runtime/cuda/papers/libra_streams/libra_streams.hpp"

#include <algorithm>
#include <memory>

#include "runtime/cuda/csr/launch.cuh"
#include "runtime/cuda/papers/libra_streams/adding.cuh"
#include "runtime/cuda/papers/libra_streams/scale_rows.cuh"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/cuda/papers/libra_streams/side_stream.hpp"
#include "runtime/cuda/tile/hybrid.cuh"
#include "runtime/cuda/tile/sizes.hpp"

namespace sptile::runtime::cuda {
namespace {

using RowArguments = CsrArguments<float, float, AddingCsrStore>;
using RowTuning = CsrTuning<128, 4, 8>;

/// As in the paper: values and operands of f32, products in tf32.
template <int kSegments, bool kWhole, int kRegisters>
using AddingTile = AddingKernel<DirectKernel<Mask8, float, MathF32<false>, kSegments, kWhole, kRegisters>>;
using Tiles = TileInstance<AddingTile<1, false, Sizes8::kSingle>, AddingTile<1, true, Sizes8::kF32x1>,
                           AddingTile<2, true, Sizes8::kF32x2>>;

int row_blocks_per_sm(int lanes) {
  constexpr int kThreads = RowTuning::kThreads;
  if (lanes == 8) return blocks_per_sm<csr_spmm<RowArguments, 8, true, RowTuning>>(kThreads);
  if (lanes == 16) return blocks_per_sm<csr_spmm<RowArguments, 16, true, RowTuning>>(kThreads);
  return blocks_per_sm<csr_spmm<RowArguments, 32, true, RowTuning>>(kThreads);
}

int launch_residual(const LibraStreamsHeader& header, const Launch& launch, cudaStream_t stream) {
  const ResidualHeader& rows = header.parts.rows;
  auto arguments = arguments_of<RowArguments>(residual_arrays(rows, launch), rows.csr, launch);
  arguments.store.atomic = launch.part<std::uint8_t>(header.row_atomic_at);
  return launch_arguments<RowTuning>(arguments, launch, stream);
}

/// A second stream where the schedule wants one.
Result<std::shared_ptr<void>> prepare(const ScheduleHeader& header) {
  if (!header.as<LibraStreamsHeader>().two_streams) return std::shared_ptr<void>();
  auto side = SideStream::make();
  if (!side) return tl::unexpected(side.error());
  return std::shared_ptr<SideStream>(std::move(*side));
}

/// Libra: what is cut and where it runs, by the rules of the paper; and for comparison, each with one of them
/// off.
constexpr LibraPolicy kStreams = {};
constexpr LibraPolicy kSequential = {.mode = LibraMode::sequential};
constexpr LibraPolicy kConcurrent = {.mode = LibraMode::two_streams};
constexpr LibraPolicy kUncut = {.sizes = kLibraUncut};

/// One row of the table.
template <const LibraPolicy& kPolicy>
struct StreamsInstance {
  static Schedule schedule(const ScheduleRequest& request) {
    return schedule_libra_streams(
        request, kPolicy, {Tiles::kVariants, Tiles::blocks_per_sm, row_blocks_per_sm, RowTuning::kThreads});
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->as<LibraStreamsHeader>();
    const auto main = static_cast<cudaStream_t>(stream);
    const auto* const scaled = launch.part<std::int32_t>(header.scaled_rows_at);
    if (const int code = scale_rows<float>(scaled, header.scaled_rows, launch, main); code != cudaSuccess)
      return code;
    const auto tiles = [&](cudaStream_t on) { return Tiles::start(header.parts.tiles, launch, on); };
    const auto rows = [&](cudaStream_t on) { return launch_residual(header, launch, on); };
    if (auto* const side = static_cast<SideStream*>(launch.resources); side != nullptr && header.two_streams)
      return side->run(main, tiles, rows);
    const int code = tiles(main);
    return code != cudaSuccess ? code : rows(main);
  }

  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    const HybridHeader& parts = header.as<LibraStreamsHeader>().parts;
    return std::max(Tiles::least_n(parts.tiles, n), csr_least_n(n, csr_vector(DType::f32)));
  }

  static constexpr DeviceKernel row(std::string_view kernel) {
    return {.kernel = kernel,
            .values = DType::f32,
            .dense = DType::f32,
            .precision = Precision::tf32,
            .capability = 80,
            .ieee = false,
            .schedule = schedule,
            .launch = launch,
            .prepare = prepare,
            .least_n = least_n};
  }
};

template <const std::string_view& kKernel, const LibraPolicy& kPolicy>
std::span<const DeviceKernel> rows() {
  static constexpr DeviceKernel kRows[] = {StreamsInstance<kPolicy>::row(kKernel)};
  return kRows;
}

}  // namespace

std::span<const DeviceKernel> libra_streams_kernels() { return rows<kLibraStreams, kStreams>(); }
std::span<const DeviceKernel> libra_sequential_kernels() { return rows<kLibraSequential, kSequential>(); }
std::span<const DeviceKernel> libra_concurrent_kernels() { return rows<kLibraConcurrent, kConcurrent>(); }
std::span<const DeviceKernel> libra_uncut_kernels() { return rows<kLibraUncutName, kUncut>(); }

}  // namespace sptile::runtime::cuda
