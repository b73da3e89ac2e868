#include <cstdint>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/collective/direct_schedule.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/csr/shares.cuh"

namespace sptile::runtime::cuda {
namespace {

constexpr int kSharesVector = 4;  ///< columns of 16 bytes

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

/// Returns the number of slices of n columns.
constexpr std::int64_t slices_of(std::int64_t n) {
  return csr_geometry_of(kSharesPolicy.lanes, n, kSharesVector).slices;
}

int launch_shares(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<SharesHeader>();
  constexpr std::int64_t kClears = std::int64_t{kSharesEmptyRows} * kSharesGroups;
  const std::int64_t blocks = header.blocks + (header.empty + kClears - 1) / kClears;
  if (blocks == 0) return cudaSuccess;
  SharesArguments arguments = shares_arguments(launch, header);
  arguments.slices = static_cast<int>(slices_of(launch.n));
  const LaunchShape shape = {.blocks = sliced_grid(blocks, arguments.slices, 1),
                             .threads = kSharesPolicy.threads};
  const auto start = has_vectors(launch) ? start_kernel<csr_shares<true>, SharesArguments>
                                         : start_kernel<csr_shares<false>, SharesArguments>;
  return start(shape, *launch.device, static_cast<cudaStream_t>(stream), arguments);
}

/// The numbers that the division of a matrix depends on.
struct SharesPlan {
  std::span<const std::int64_t> row_ptr;
  SharesShape shape;
  SharesScratch scratch;

  explicit SharesPlan(const ScheduleRequest& request)
      : row_ptr(formats::as_csr(request.format).row_ptr),
        shape(shares_shape(row_ptr.back(), kSharesGroups, kSharesPolicy.max_chunks,
                           kSharesPolicy.blocks_of_work, request.device)),
        scratch{slices_of(request.n), slices_of(request.n) * kSharesPolicy.lanes * 16} {}
};

Schedule schedule_shares(const ScheduleRequest& request) {
  const SharesPlan plan(request);
  return shares_schedule(plan.row_ptr, plan.shape, plan.scratch);
}

Result<Schedule> restore_shares(const ScheduleRequest& request, const StoredSchedule& stored) {
  const SharesPlan plan(request);
  return read_shares(stored, plan.row_ptr, plan.shape, plan.scratch);
}

std::vector<std::int64_t> no_shares_numbers(const ScheduleHeader& /*header*/) { return {}; }

/// Returns the minimum number of columns with the same number of slices.
std::int64_t least_shares_n(const ScheduleHeader& /*header*/, std::int64_t n) {
  return (slices_of(n) - 1) * kSharesPolicy.lanes * kSharesVector + 1;
}

constexpr ScheduleStore kSharesStore = {kSharesVersion, no_shares_numbers, restore_shares};

/// Creates an instance. A pattern runs as a matrix of f32 without values.
constexpr DeviceKernel shares_instance(DType values) {
  return {.kernel = kCsrShares,
          .values = values,
          .dense = DType::f32,
          .precision = Precision::fp32,
          .capability = 80,
          .ieee = true,
          .schedule = schedule_shares,
          .launch = launch_shares,
          .least_n = least_shares_n,
          .result = DType::f32,
          .store = &kSharesStore,
          .check = check_one_head,
          .policy = policy_values_for<shares_policy_for>};
}

constexpr DeviceKernel kSharesInstances[] = {shares_instance(DType::f32), shares_instance(DType::none)};

}  // namespace

std::span<const DeviceKernel> shares_kernels() { return kSharesInstances; }

}  // namespace sptile::runtime::cuda
