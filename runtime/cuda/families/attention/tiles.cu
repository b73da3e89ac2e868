#include "runtime/cuda/families/attention/tiles.cuh"

#include <algorithm>
#include <string>
#include <type_traits>

#include "formats/layout/blocks.hpp"
#include "runtime/core/attention_operands.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/attention/attention.hpp"

namespace sptile::runtime::cuda {
namespace {

template <class T>
HeadRows<T> rows_of(const Operand& operand) {
  return {static_cast<T*>(operand.data), operand.ld, operand.batch};
}

template <class Task>
Task task_of(const Launch& launch, const TileAttentionHeader& header) {
  const formats::Blocks blocks = formats::blocks_of(launch.format);
  const Operand* const dense = launch.operands.dense;
  Task task{};
  task.columns = blocks.columns.data();
  task.words = reinterpret_cast<const uint4*>(blocks.masks);
  task.row_order = launch.row_order;
  task.items = launch.part<AttentionItem>(header.items_at);
  task.splits = launch.part<SplitAttention>(header.splits_at);
  task.item_count = static_cast<std::int32_t>(header.item_count);
  task.rows = static_cast<std::int32_t>(launch.format.rows);
  task.n = static_cast<std::int32_t>(launch.sizes.n);
  task.m = static_cast<std::int32_t>(launch.sizes.m);
  task.x = rows_of<typename Task::Input>(dense[kAttentionX]);
  task.y = rows_of<typename Task::Input>(dense[kAttentionY]);
  task.v = rows_of<typename Task::Input>(dense[kAttentionV]);
  task.bias = rows_of<typename Task::Input>(dense[kAttentionBias]);
  task.statistics = rows_of<float>(dense[kAttentionStatistics]);
  task.out = rows_of<typename Task::Output>(dense[kAttentionOut]);
  task.score = launch.variant.score;
  task.scale = kLog2E * static_cast<float>(launch.operands.alpha);
  task.slope = static_cast<float>(launch.operands.slope);
  task.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  task.partials = reinterpret_cast<float*>(launch.workspace + header.scratch.partials_at);
  return task;
}

/// Returns whether all rows can be moved in chunks.
template <class Math>
bool whole_chunks(const Launch& launch) {
  constexpr std::int64_t kSize = sizeof(typename Math::Dense), kResult = sizeof(typename Math::Result);
  const Operand* const dense = launch.operands.dense;
  const bool numbers = launch.variant.score == Score::additive;
  const auto whole = [&](int i, std::int64_t columns, std::int64_t size) {
    return whole_pieces(dense[i], columns, size, size * Math::kElements) &&
           dense[i].batch % Math::kElements == 0;
  };
  return (numbers ||
          (whole(kAttentionX, launch.sizes.n, kSize) && whole(kAttentionY, launch.sizes.n, kSize))) &&
         whole(kAttentionV, launch.sizes.m, kSize) && whole(kAttentionOut, launch.sizes.m, kResult);
}

template <class Math, int kPieces, bool kVector, bool kAdditive>
int start(const Launch& launch, const TileAttentionHeader& header, cudaStream_t stream) {
  using Shape = TileAttentionShape<Math, kPieces, kVector, kAdditive>;
  constexpr unsigned kWarpSizes = kTileAttentionThreads / kWarpSize;
  const auto blocks = static_cast<unsigned>((header.item_count + kWarpSizes - 1) / kWarpSizes);
  if (blocks == 0) return cudaSuccess;
  return start_kernel<tile_attention<Shape>>(
      {.blocks = dim3(blocks, static_cast<unsigned>(launch.sizes.heads)), .threads = kTileAttentionThreads},
      *launch.device, stream, task_of<typename Shape::Task>(launch, header));
}

template <class Math, int kPieces, bool kVector>
int start_scored(const Launch& launch, const TileAttentionHeader& header, cudaStream_t stream) {
  return launch.variant.score == Score::additive
             ? start<Math, kPieces, kVector, true>(launch, header, stream)
             : start<Math, kPieces, kVector, false>(launch, header, stream);
}

/// Returns the maximum of the columns of X and V.
std::int64_t columns_of(const RunSizes& sizes, Score score) {
  return std::max(score == Score::additive ? 1 : sizes.n, sizes.m);
}

/// Kernels of one operand type: for 32 columns and for 64.
template <class Narrow, class Wide, int kWidePieces>
struct TileAttentionFamily {
  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->as<TileAttentionHeader>();
    auto* const on = static_cast<cudaStream_t>(stream);
    const bool narrow = columns_of(launch.sizes, launch.variant.score) <= kMostTileColumns / 2;
    if (narrow && whole_chunks<Narrow>(launch)) return start_scored<Narrow, 1, true>(launch, header, on);
    if (whole_chunks<Wide>(launch)) return start_scored<Wide, kWidePieces, true>(launch, header, on);
    return start_scored<Wide, kWidePieces, false>(launch, header, on);
  }
};

Status check_columns(const ServiceRequest& request) {
  const Variant& variant = request.variant;
  const std::int64_t n = request.n, m = variant.m != 0 ? variant.m : n;
  if (columns_of({n, m}, variant.score) <= kMostTileColumns) return {};
  return fail(Errc::unsupported, "supports up to " + std::to_string(kMostTileColumns) +
                                     " columns of X and V, got n = " + std::to_string(n) +
                                     " and m = " + std::to_string(m) + "; plan with csr");
}

template <class Family>
constexpr DeviceKernel row(DType dense, Precision precision) {
  return {.kernel = kBmatAttention,
          .values = DType::none,
          .dense = dense,
          .precision = precision,
          .capability = 80,
          .ieee = false,
          .schedule = schedule_tile_attention,
          .launch = Family::launch,
          .any_values = true,
          .check = check_columns,
          .batched = true,
          .policy = policy_values_for<tile_attention_policy_for>};
}

template <class T>
using HalfFamily = TileAttentionFamily<AttentionHalf<T, 4, T>, AttentionHalf<T, 8, T>, 1>;

constexpr DeviceKernel kRows[] = {
    row<TileAttentionFamily<AttentionF32, AttentionF32, 2>>(DType::f32, Precision::tf32),
    row<HalfFamily<Half>>(DType::f16, Precision::fp16),
    row<HalfFamily<BFloat16>>(DType::bf16, Precision::bf16),
};

}  // namespace

std::span<const DeviceKernel> bmat_attention_kernels() { return kRows; }

}  // namespace sptile::runtime::cuda
