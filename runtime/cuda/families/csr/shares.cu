#include <cstdint>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/collective/direct_schedule.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/csr/shares.cuh"

namespace sptile::runtime::cuda {
namespace {

/// Kernels are compiled once for all devices.
constexpr SharesPolicy kSharesPolicy = shares_policy_for(80);

SharesArguments shares_arguments(const Launch& launch, const SharesHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  SharesArguments a;
  a.columns = csr.col_idx.data();
  a.values = static_cast<const float*>(csr.values.data);
  a.chunks = launch.part<RowChunk>(header.chunks_at);
  a.rows = header.rows_at < 0 ? nullptr : launch.part<std::int32_t>(header.rows_at);
  a.empty_rows = launch.part<std::int32_t>(header.empty_at);
  a.row_order = launch.row_order;
  a.blocks = launch.part<CsrPiece>(header.blocks_at);
  a.splits = launch.part<CsrSplit>(header.splits_at);
  a.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  a.partials = reinterpret_cast<float*>(launch.workspace + header.scratch.partials_at);
  a.b = static_cast<const float*>(b.data);
  a.c = static_cast<float*>(c.data);
  a.ldb = b.ld;
  a.ldc = c.ld;
  a.n = launch.n;
  a.entries = std::ssize(csr.col_idx);
  a.alpha = static_cast<float>(launch.operands.alpha);
  a.beta = static_cast<float>(launch.operands.beta);
  a.b_bytes = static_cast<std::uint32_t>(b.ld * std::int64_t{sizeof(float)});
  a.block_count = static_cast<int>(header.blocks);
  a.row_count = static_cast<int>(header.rows);
  a.empty_count = static_cast<int>(header.empty);
  a.vectors = reinterpret_cast<std::uintptr_t>(a.columns) % 16 == 0 && whole_values(launch.format);
  return a;
}

/// Returns whether operands can be accessed in vectors, B with a short stride.
bool has_vectors(const Launch& launch) {
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  return whole_pieces(b, launch.n, sizeof(float)) && whole_pieces(c, launch.n, sizeof(float)) &&
         short_stride(b, sizeof(float));
}

template <class Tuning>
constexpr std::int64_t slices_of(std::int64_t n) {
  return csr_geometry_of(Tuning::kLanes, n, 4).slices;
}

template <class Tuning>
int launch_shares(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<SharesHeader>();
  constexpr std::int64_t kClears = std::int64_t{kSharesEmptyRows} * Tuning::kGroups;
  const std::int64_t blocks = header.blocks + (header.empty + kClears - 1) / kClears;
  if (blocks == 0) return cudaSuccess;
  SharesArguments arguments = shares_arguments(launch, header);
  arguments.slices = static_cast<int>(slices_of<Tuning>(launch.n));
  const LaunchShape shape = {.blocks = sliced_grid(blocks, arguments.slices, 1), .threads = Tuning::kThreads};
  const auto start = has_vectors(launch) ? start_kernel<csr_shares<Tuning, true>, SharesArguments>
                                         : start_kernel<csr_shares<Tuning, false>, SharesArguments>;
  return start(shape, *launch.device, static_cast<cudaStream_t>(stream), arguments);
}

template <class Tuning>
struct SharesPlan {
  SharesShape shape;
  SharesScratch scratch;

  explicit SharesPlan(const ScheduleRequest& request)
      : shape(shares_shape(row_ptr(request).back(), Tuning::kGroups, kSharesPolicy.max_chunks,
                           kSharesPolicy.blocks_of_work, request.device)),
        scratch{slices_of<Tuning>(request.n), slices_of<Tuning>(request.n) * Tuning::kLanes * 16} {}

  static std::span<const std::int64_t> row_ptr(const ScheduleRequest& request) {
    return formats::as_csr(request.format).row_ptr;
  }
  static Schedule schedule(const ScheduleRequest& request) {
    const SharesPlan plan(request);
    return shares_schedule(row_ptr(request), plan.shape, plan.scratch);
  }
  static Result<Schedule> restore(const ScheduleRequest& request, const StoredSchedule& stored) {
    const SharesPlan plan(request);
    return read_shares(stored, row_ptr(request), plan.shape, plan.scratch);
  }
  static std::vector<std::int64_t> numbers(const ScheduleHeader& /*header*/) { return {}; }
  /// Returns the minimum number of columns with the same number of slices.
  static std::int64_t least_n(const ScheduleHeader& /*header*/, std::int64_t n) {
    return (slices_of<Tuning>(n) - 1) * Tuning::kLanes * 4 + 1;
  }
  static constexpr ScheduleStore kStore = {kSharesVersion, numbers, restore};
};

/// Creates an instance. A pattern runs as a matrix of f32 without values.
template <class Tuning>
constexpr DeviceKernel shares_instance(std::string_view kernel, DType values) {
  using Plan = SharesPlan<Tuning>;
  return {.kernel = kernel,
          .values = values,
          .dense = DType::f32,
          .precision = Precision::fp32,
          .capability = 80,
          .ieee = true,
          .schedule = Plan::schedule,
          .launch = launch_shares<Tuning>,
          .least_n = Plan::least_n,
          .result = DType::f32,
          .store = &Plan::kStore,
          .check = check_one_head,
          .policy = policy_values_for<shares_policy_for>};
}

template <const std::string_view& kKernel, int kLanes, int kRowsInFlight, int kBlocks,
          int kThreads = kSharesPolicy.threads>
std::span<const DeviceKernel> shares_instances() {
  using Tuning = SharesTuning<kThreads, kLanes, kRowsInFlight, kBlocks>;
  static constexpr DeviceKernel kInstances[] = {shares_instance<Tuning>(kKernel, DType::f32),
                                                shares_instance<Tuning>(kKernel, DType::none)};
  return kInstances;
}

}  // namespace

std::span<const DeviceKernel> shares_kernels() {
  return shares_instances<kCsrShares, kSharesPolicy.lanes, kSharesPolicy.rows_in_flight,
                          kSharesPolicy.blocks>();
}

#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> shares_few_kernels() {
  return shares_instances<kCsrSharesFew, kSharesPolicy.lanes, 4, 7>();
}
std::span<const DeviceKernel> shares_small_kernels() {
  return shares_instances<kCsrSharesSmall, kSharesPolicy.lanes, kSharesPolicy.rows_in_flight,
                          2 * kSharesPolicy.blocks, kSharesPolicy.threads / 2>();
}
std::span<const DeviceKernel> shares_256_kernels() {
  return shares_instances<kCsrShares256, 16, kSharesPolicy.rows_in_flight, kSharesPolicy.blocks>();
}
std::span<const DeviceKernel> shares_512_kernels() {
  return shares_instances<kCsrShares512, 32, kSharesPolicy.rows_in_flight, kSharesPolicy.blocks>();
}
#endif

}  // namespace sptile::runtime::cuda
