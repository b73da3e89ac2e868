#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/families/reduce/launch.cuh"
#include "runtime/cuda/families/reduce/rules.cuh"

namespace sptile::runtime::cuda {
namespace {

template <class Dense, DType kDense>
struct GradientOfB {
  using Rule = SelectedRule<Dense>;

  static Schedule schedule(const ScheduleRequest& request) {
    return schedule_reduction<kDense>(request, sizeof(typename Rule::State));
  }
  static int launch(const Launch& launch, void* stream) noexcept {
    return start_reduction<Rule>(launch, stream, kReduceTransposedG, kReduceTransposedArg, kReduceTransposedB,
                                 1);
  }
};

/// Dot products of the entries of a row, of which a team computes entries team, team + teams, ... Rows of G
/// and arg stay in L1.
template <class Task>
__device__ void selected_dots(const Task& t, std::int32_t row, std::int64_t begin, int entries, int team,
                              int teams) {
  using Acc = typename Task::Acc;
  const int lane = static_cast<int>(threadIdx.x) % kReduceDotLanes;
  const std::int64_t id = caller_row(t.row_order, row);
  const std::int32_t* const args = t.arg + id * t.arg_ld;
  const auto* const g = t.from + id * t.from_ld;
  // All lanes of a warp shuffle in every round.
  const int rounds = __reduce_max_sync(kFullMask, (entries + teams - 1) / teams);
  for (int k = team, round = 0; round < rounds; ++round, k += teams) {
    const std::int32_t column = k < entries ? load_once(t.columns + begin + k) : -2;  // -1 is an arg
    Acc sum = 0;
    for (std::int64_t j = lane; j < t.n && column >= 0; j += kReduceDotLanes)
      if (__ldg(args + j) == column)
        sum += widen(__ldg(g + j)) * widen(__ldg(t.second + column * t.second_ld + j));
    sum = reduce_lanes<kReduceDotLanes>(sum);
    if (lane == 0 && k < entries) t.to[begin + k] = narrow<typename Task::Dense>(t.alpha * sum);
  }
}

template <class Task>
__global__ void __launch_bounds__(kDirectThreads) reduce_values(const __grid_constant__ Task task) {
  admit_next_kernel();
  const auto block = static_cast<int>(blockIdx.x);
  if (block < task.piece_count) {
    const CsrPiece piece = task.pieces[block];
    const std::int32_t row = task.splits[piece.split].row;
    await_previous_kernel();
    selected_dots(task, row, piece.entry, piece.entries, static_cast<int>(threadIdx.x) / kReduceDotLanes,
                  kDirectThreads / kReduceDotLanes);
    return;
  }
  const DirectRow mine = direct_row(task, block - task.piece_count);
  await_previous_kernel();
  selected_dots(task, mine.row, mine.begin, mine.entries, mine.thread / kReduceDotLanes,
                mine.threads / kReduceDotLanes);
}

template <class Dense, DType kDense>
struct GradientOfValues {
  /// The division does not depend on n, and dot products have no partial sums.
  static Schedule schedule(const ScheduleRequest& request) {
    return direct_schedule(formats::as_csr(request.format).row_ptr, {{kReduceDotLanes, 1, 1}},
                           request.device);
  }
  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->as<DirectHeader>();
    auto task = reduce_task<Dense>(launch, header);
    const Operand* const operands = launch.operands.dense;
    const Operand &g = operands[kReduceGradientG], &b = operands[kReduceGradientB];
    set_rows(task, g, operands[kReduceGradientArg], operands[kReduceGradientValues]);
    task.second = static_cast<const Dense*>(b.data);
    task.second_ld = b.ld;
    const std::int64_t blocks = header.pieces + header.row_blocks;
    if (blocks == 0) return cudaSuccess;
    return start_kernel<reduce_values<ReduceTask<Dense>>>(
        {.blocks = sliced_grid(blocks, 1, 1), .threads = kDirectThreads}, *launch.device,
        static_cast<cudaStream_t>(stream), task);
  }
};

constexpr auto kGradientInstances = ReduceInstances<GradientOfValues>::rows(kCsrMaxGradient);
constexpr auto kGradientTInstances = ReduceInstances<GradientOfB>::rows(kCsrMaxGradientT);

}  // namespace

std::span<const DeviceKernel> max_gradient_kernels() { return kGradientInstances; }
std::span<const DeviceKernel> max_gradient_t_kernels() { return kGradientTInstances; }

}  // namespace sptile::runtime::cuda
