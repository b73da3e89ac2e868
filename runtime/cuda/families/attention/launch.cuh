// Launches of the attention kernels. Each .cu file that includes this instantiates its kernels.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/attention/attention.hpp"
#include "runtime/cuda/families/attention/group.cuh"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime::cuda {

/// Operation and slices of a kernel.
struct AttentionKind {
  const Operation* op;
  AttentionSide side;
  AttentionSums sums;
  bool of_values;  ///< slices divide rows of V
  AttentionStep step;
};

inline DenseRows dense_rows(const OperandSpec& spec, const Operand& operand, const DenseTypes& types) {
  const auto size = static_cast<std::int64_t>(size_of(type_of(spec, types)));
  const std::int64_t ld = spec.extent == Extent::entries ? 1 : operand.ld;
  return {static_cast<std::byte*>(operand.data), ld * size, operand.batch * size};
}

/// Returns whether rows of an operand, of all heads, can be moved in units of 16 bytes.
inline bool is_whole(const DenseRows& rows, std::int64_t row_bytes, std::int64_t heads) {
  return whole_pieces(rows.data, rows.stride, row_bytes, 1) && (heads == 1 || rows.batch % 16 == 0);
}

/// Returns whether this holds for all operands that groups move; single numbers are exempt, and with
/// `features` also the operands with Width::m.
inline bool all_whole(const Operation& op, const AttentionTask& task, const DenseTypes& types,
                      bool features = false) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const OperandSpec& spec = op.operands[i];
    const bool wide = spec.width == Width::n || (spec.width == Width::m && !features);
    const std::int64_t width = spec.width == Width::n ? task.n : task.m;
    if (!wide || spec.extent == Extent::entries) continue;
    if (spec.width == Width::n && task.score == Score::additive) continue;
    if (!is_whole(task.dense[i], width * static_cast<std::int64_t>(size_of(type_of(spec, types))),
                  task.heads))
      return false;
  }
  return true;
}

inline bool same_rows(const DenseRows& x, const DenseRows& y) {
  return x.data == y.data && x.stride == y.stride && x.batch == y.batch;
}

inline AttentionTask attention_task(const AttentionKind& kind, const Launch& launch,
                                    const DenseTypes& types) {
  const AttentionHeader& header = launch.header->as<AttentionHeader>();
  const formats::CsrView csr = formats::as_csr(launch.format);
  AttentionTask task{};
  task.row_ptr = csr.row_ptr.data();
  task.columns = csr.col_idx.data();
  task.row_order = launch.row_order;
  task.runs = launch.part<CsrRun>(header.rows.runs_at);
  task.pieces = launch.part<CsrPiece>(header.rows.pieces_at);
  task.splits = launch.part<CsrSplit>(header.rows.splits_at);
  task.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  task.partials = launch.workspace + header.scratch.partials_at;
  task.piece_count = static_cast<std::int32_t>(header.rows.pieces);
  task.item_count = static_cast<std::int32_t>(header.rows.items());
  task.heads = static_cast<std::int32_t>(launch.sizes.heads);
  task.wide = types.result != types.operands;
  task.score = launch.variant.score;
  task.n = launch.sizes.n;
  task.m = launch.sizes.m;
  task.alpha = launch.operands.alpha;
  task.slope = launch.operands.slope;
  for (std::size_t i = 0; i < kind.op->operands.size(); ++i)
    task.dense[i] = dense_rows(kind.op->operands[i], launch.operands.dense[i], types);
  const DenseRows &other = task.dense[kind.side.other], &values = task.dense[kind.side.other_values];
  task.tied = task.score != Score::additive && task.n == task.m && same_rows(other, values);
  task.beside = values.batch < values.stride;
  return task;
}

template <class Group, int kBlocks>
int start_attention(const AttentionTask& task, const Launch& launch, void* stream) {
  constexpr std::int64_t kGroups = kAttentionThreads / Group::kLanes, kMostInY = 65535;
  const std::int64_t blocks = (std::int64_t{task.item_count} * task.heads + kGroups - 1) / kGroups;
  if (blocks > INT_MAX) return cudaErrorInvalidValue;
  const std::int64_t y = std::min<std::int64_t>(task.slices, kMostInY);
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(y),
                  static_cast<unsigned>((task.slices + y - 1) / y));
  return start_kernel<attention_rows<Group, kBlocks>>({.blocks = grid, .threads = kAttentionThreads},
                                                      *launch.device, static_cast<cudaStream_t>(stream),
                                                      task);
}

inline constexpr int kFewLanes = AttentionPolicy{}.few_lanes;

/// Returns the maximum lanes of groups that load full pieces: Groups::kMostLanes, which keeps the library
/// small. Wider rows have slices. 0: no group loads full pieces.
template <class Groups>
constexpr int most_lanes() {
  if constexpr (requires { Groups::kMostLanes; })
    return Groups::kMostLanes;
  else
    return kWarpSize;
}

/// Groups::kFeatures: operands with Width::m are features of entries, which groups load number by number.
template <class Groups>
constexpr bool has_features() {
  if constexpr (requires { Groups::kFeatures; })
    return Groups::kFeatures;
  else
    return false;
}

/// Groups::kWithoutItems: the result has no rows of A, and is written even if A has none.
template <class Groups>
constexpr bool runs_without_items() {
  if constexpr (requires { Groups::kWithoutItems; })
    return Groups::kWithoutItems;
  else
    return false;
}

/// Chooses the lanes of a group and launches Groups::Group<lanes, full pieces>.
template <class Math, class Groups>
int launch_attention(const AttentionKind& kind, const DenseTypes& types, const Launch& launch, void* stream) {
  AttentionTask task = attention_task(kind, launch, types);
  if (task.item_count == 0 && !runs_without_items<Groups>()) return cudaSuccess;
  const std::int64_t widest = std::max(task.n, task.m);
  const std::int64_t summed = kind.of_values ? task.m : kind.side.of_columns ? widest : task.n;
  constexpr int kMost = most_lanes<Groups>();
  [[maybe_unused]] constexpr bool kOneSlice = Groups::kOneSlice;
  constexpr bool kFeatures = has_features<Groups>();
  const bool whole = kMost > 0 && all_whole(*kind.op, task, types, kFeatures);
  const bool few = !kFeatures && whole && widest <= kFewLanes * Math::kElements;
  const int lanes = few     ? kFewLanes
                    : whole ? std::min(csr_geometry(widest, Math::kElements).lanes, kMost)
                            : kNarrowLanes;
  task.slices = static_cast<std::int32_t>((summed + lanes * Math::kElements - 1) / (lanes * Math::kElements));
  const auto start = [&]<int kLanes, bool kWhole>() {
    constexpr int kBlocks =
        attention_policy_for(80, kDTypeOf<typename Math::Dense>, Groups::kKind.step).blocks;
    using Group = typename Groups::template Group<kLanes, kWhole>;
    if constexpr (kFeatures)
      return Groups::template start<Group, kBlocks>(task, launch, stream);
    else
      return start_attention<Group, kBlocks>(task, launch, stream);
  };
  if (!whole) return start.template operator()<kNarrowLanes, false>();
  if constexpr (kMost > 0) {
    if constexpr (!kFeatures)
      if (few) return start.template operator()<kFewLanes, true>();
    if constexpr (kOneSlice) {
      if (lanes == 8) return start.template operator()<8, true>();
      if (kMost > 16 && lanes == 16) return start.template operator()<16, true>();
    }
    return start.template operator()<kMost, true>();
  }
  __builtin_unreachable();
}

constexpr DeviceKernel batched_instance(std::string_view kernel, DType dense, Precision precision,
                                        Schedule (*schedule)(const ScheduleRequest&),
                                        int (*launch)(const Launch&, void*) noexcept, DType result) {
  return {.kernel = kernel,
          .values = DType::none,
          .dense = dense,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule,
          .launch = launch,
          .any_values = true,
          .result = result,
          .batched = true};
}

/// Instances of a kind: Groups<Math>::Group, kKind, and kOneSlice if a group may
/// also have 8 or 16 lanes, so that a row of that size is one slice.
template <template <class> class Groups>
struct AttentionInstances {
  template <DType kDense>
  static Schedule schedule(const ScheduleRequest& request) {
    if constexpr (requires { Groups<MathF64>::schedule(request, kDense); })
      return Groups<MathF64>::schedule(request, kDense);
    else
      return schedule_attention(request, kDense, Groups<MathF64>::kKind.sums);
  }
  template <DType kDense>
  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    return attention_least_n(header, n, kDense);
  }
  template <DType kDense>
  static PolicyValues policy(int capability) {
    return policy_values(attention_policy_for(capability, kDense, Groups<MathF64>::kKind.step));
  }
  template <class Math, DType kDense, DType kResult>
  static int launch(const Launch& launch, void* stream) noexcept {
    using G = Groups<Math>;
    return launch_attention<Math, G>(G::kKind, {kDense, kResult}, launch, stream);
  }
  template <class Math, DType kDense, DType kResult = kDense>
  static constexpr DeviceKernel row(std::string_view kernel, Precision precision) {
    DeviceKernel made =
        batched_instance(kernel, kDense, precision, schedule<kDense>, launch<Math, kDense, kResult>, kResult);
    made.least_n = least_n<kDense>;
    made.policy = policy<kDense>;
    return made;
  }
  static constexpr std::array<DeviceKernel, 6> rows(std::string_view kernel) {
    return {row<MathF32<false>, DType::f32>(kernel, Precision::fp32),
            row<MathHalf<Half, 8>, DType::f16>(kernel, Precision::fp16),
            row<MathHalf<BFloat16, 8>, DType::bf16>(kernel, Precision::bf16),
            row<MathHalf<Half, 8>, DType::f16, DType::f32>(kernel, Precision::fp16),
            row<MathHalf<BFloat16, 8>, DType::bf16, DType::f32>(kernel, Precision::bf16),
            row<MathF64, DType::f64>(kernel, Precision::fp64)};
  }
};

}  // namespace sptile::runtime::cuda
