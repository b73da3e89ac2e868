#include <cstdint>
#include <string>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/families/csr/scan.cuh"
#include "runtime/cuda/families/csr/stream.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Kernels are compiled once for all devices.
constexpr ScanPolicy kScanPolicy = scan_policy_for(80);
using ScanTuned = ScanTuning<kScanPolicy.threads, kScanPolicy.in_flight, kScanPolicy.blocks>;
constexpr SharesScratch kScanScratch = {1, sizeof(float)};

ScanArguments scan_arguments(const Launch& launch, const SharesHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  ScanArguments a;
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
  a.alpha = static_cast<float>(launch.operands.alpha);
  a.beta = static_cast<float>(launch.operands.beta);
  a.block_count = static_cast<int>(header.blocks);
  a.empty_count = static_cast<int>(header.empty);
  return a;
}

int launch_scan(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<SharesHeader>();
  constexpr std::int64_t kClears = std::int64_t{kScanEmptyRows} * ScanTuned::kThreads;
  const std::int64_t blocks = header.blocks + (header.empty + kClears - 1) / kClears;
  if (blocks == 0) return cudaSuccess;
  const ScanArguments arguments = scan_arguments(launch, header);
  const auto start = arguments.ldb == 1 ? start_kernel<csr_scan<ScanTuned, true>, ScanArguments>
                                        : start_kernel<csr_scan<ScanTuned, false>, ScanArguments>;
  return start({.blocks = dim3(static_cast<unsigned>(blocks)), .threads = ScanTuned::kThreads},
               *launch.device, static_cast<cudaStream_t>(stream), arguments);
}

std::span<const std::int64_t> scan_rows(const ScheduleRequest& request) {
  return formats::as_csr(request.format).row_ptr;
}

SharesShape scan_shape(const ScheduleRequest& request) {
  return shares_shape(scan_rows(request).back(), ScanTuned::kWarps, kScanPolicy.max_chunks,
                      kScanPolicy.blocks_of_work, request.device);
}

Schedule schedule_scan(const ScheduleRequest& request) {
  return shares_schedule(scan_rows(request), scan_shape(request), kScanScratch);
}

Result<Schedule> restore_scan(const ScheduleRequest& request, const StoredSchedule& stored) {
  return read_shares(stored, scan_rows(request), scan_shape(request), kScanScratch);
}

std::vector<std::int64_t> scan_numbers(const ScheduleHeader& /*header*/) { return {}; }

constexpr ScheduleStore kScanStore = {kSharesVersion, scan_numbers, restore_scan};

/// Creates an instance. A pattern runs as a matrix of f32 without values.
constexpr DeviceKernel scan_instance(DType values) {
  return {.kernel = kCsrScan,
          .values = values,
          .dense = DType::f32,
          .precision = Precision::fp32,
          .capability = 80,
          .ieee = true,
          .schedule = schedule_scan,
          .launch = launch_scan,
          .result = DType::f32,
          .store = &kScanStore,
          .check = check_one_column,
          .policy = policy_values_for<scan_policy_for>};
}

constexpr DeviceKernel kScanInstances[] = {scan_instance(DType::f32), scan_instance(DType::none)};

}  // namespace

std::span<const DeviceKernel> scan_kernels() { return kScanInstances; }

}  // namespace sptile::runtime::cuda
