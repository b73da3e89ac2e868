// SpMM of libra_spmm with Libra's own balance and scheduling (sections 4.3 and 4.4): rows that several
// segments add to are set to beta * C first; then both parts run, on one stream or on two. What is added by
// atomic operations comes in any order, so the last bits of the sums differ from run to run.
#include <iterator>
#include <span>

#include "runtime/cuda/csr/launch.cuh"
#include "runtime/cuda/tile/libra_instances.cuh"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/cuda/papers/libra_streams/scale_rows.cuh"
#include "runtime/cuda/papers/libra_streams/side_stream.hpp"
#include "runtime/cuda/tile/tile8.hpp"

namespace sptile::runtime::cuda {
namespace {

struct AddingRows : CsrTuning<128, 4, 8> {
  static constexpr bool kAdds = true;
};

template <class V, bool kSplit, int kSegments, bool kWhole, int kRegisters>
using Adding = AddingKernel<DirectKernel<Mask8, V, MathF32<kSplit>, kSegments, kWhole, kRegisters>>;

template <class V, bool kSplit>
struct AddingTilesOf {
  using type =
      TileInstance<LibraTiles, Adding<V, kSplit, 1, false, Sizes8::kSingle>,
                   Adding<V, kSplit, 1, true, Sizes8::kF32x1>, Adding<V, kSplit, 2, true, Sizes8::kF32x2>>;
};
/// The paper has values: patterns do with fewer kernels.
template <bool kSplit>
struct AddingTilesOf<Ones, kSplit> {
  using type = TileInstance<LibraTiles, Adding<Ones, kSplit, 1, false, Sizes8::kSingle>,
                            Adding<Ones, kSplit, 1, true, Sizes8::kF32x1>>;
};
template <class V, bool kSplit>
using AddingTiles = typename AddingTilesOf<V, kSplit>::type;

int row_blocks_per_sm(int lanes) {
  constexpr int kThreads = AddingRows::kThreads;
  if (lanes == 8) return blocks_per_sm<csr_spmm<float, float, 8, true, AddingRows>>(kThreads);
  if (lanes == 16) return blocks_per_sm<csr_spmm<float, float, 16, true, AddingRows>>(kThreads);
  return blocks_per_sm<csr_spmm<float, float, 32, true, AddingRows>>(kThreads);
}

int launch_residual(const Launch& launch, cudaStream_t stream) {
  const Launch rows = launch_of_part(launch, kRowsPart);
  CsrArrays arrays = residual_arrays(rows);
  arrays.row_atomic = reinterpret_cast<const std::uint8_t*>(rows.schedule + rows.host->numbers[kRowAtomicAt]);
  return launch_arrays<float, float, AddingRows>(arrays, rows, stream);
}

/// One row of the table.
template <class Policy, class Tiles>
struct StreamsInstance {
  static Schedule schedule(const formats::FormatView& host, std::span<const std::int32_t>, std::int64_t n,
                           const DeviceInfo& device) {
    return schedule_libra_streams(
        formats::as_libra(host), n, Policy::kPolicy,
        {Tiles::kVariants, Tiles::blocks_per_sm, row_blocks_per_sm, AddingRows::kThreads}, device);
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& numbers = launch.host->numbers;
    const auto main = static_cast<cudaStream_t>(stream);
    const auto* const scaled =
        reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[kScaledRowsAt]);
    if (const int code = scale_rows<float>(scaled, numbers[kScaledRows], launch, main); code != cudaSuccess)
      return code;
    const auto tiles = [&](cudaStream_t on) { return Tiles::launch(launch_of_part(launch, kTilesPart), on); };
    const auto rows = [&](cudaStream_t on) { return launch_residual(launch, on); };
    if (launch.host->two_streams && launch.side != nullptr) return launch.side->run(main, tiles, rows);
    const int code = tiles(main);
    return code != cudaSuccess ? code : rows(main);
  }
};

/// Libra: what is cut and where it runs, by the rules of the paper; and for comparison, each with one of them
/// off.
struct Streams {
  static constexpr std::string_view kKernel = "cuda.libra_spmm.streams";
  static constexpr LibraPolicy kPolicy = {};
};
struct Sequential {
  static constexpr std::string_view kKernel = "cuda.libra_spmm.sequential";
  static constexpr LibraPolicy kPolicy = {.mode = LibraMode::sequential};
};
struct Concurrent {
  static constexpr std::string_view kKernel = "cuda.libra_spmm.concurrent";
  static constexpr LibraPolicy kPolicy = {.mode = LibraMode::two_streams};
};
struct Uncut {
  static constexpr std::string_view kKernel = "cuda.libra_spmm.uncut";
  static constexpr LibraPolicy kPolicy = {.sizes = kLibraUncut};
};

template <class Policy, class V, bool kSplit>
constexpr DeviceKernel row(Precision precision) {
  return tile_row<Policy, StreamsInstance<Policy, AddingTiles<V, kSplit>>>(kValueType<V>, DType::f32,
                                                                           precision);
}

template <class... Policies>
std::span<const DeviceKernel> rows() {
  static constexpr DeviceKernel kRows[] = {
      row<Policies, float, false>(Precision::tf32)..., row<Policies, float, true>(Precision::fp32)...,
      row<Policies, Ones, false>(Precision::tf32)..., row<Policies, Ones, true>(Precision::fp32)...};
  return {kRows, std::size(kRows)};
}

}  // namespace

std::span<const DeviceKernel> libra_streams_kernels() {
  return rows<Streams, Sequential, Concurrent, Uncut>();
}

}  // namespace sptile::runtime::cuda
