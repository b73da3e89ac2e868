// What a CUDA kernel is to the planner: a row of plain data and two functions. No CUDA header is needed to
// read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/dtype.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime::cuda {

/// What scheduling and launching need to know of a device.
struct DeviceInfo {
  int ordinal = 0;
  int capability = 0;  ///< 10 * major + minor: 90
  int sm_count = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_per_block = 0;  ///< with opt-in
  std::size_t memory = 0;
  std::string name = {};
};

/// Division of the work, made on the host when planning. `bytes` is uploaded as it is, to an address that is
/// a multiple of 256.
struct Schedule {
  std::vector<std::byte> bytes;
  std::array<std::int64_t, 16> numbers{};  ///< whatever launch needs: offsets of parts, counts, grid sizes
  /// Device scratch. It is zero before the first launch; a launch that counts in it leaves its counters zero.
  std::size_t workspace_bytes = 0;
  /// Of a kernel that is made of others: their schedules. The bytes and the scratch of a part stand in those
  /// of the whole, from here on.
  std::vector<Schedule> parts = {};
  std::int64_t bytes_at = 0, workspace_at = 0;
  bool two_streams = false;  ///< launching wants Launch::side
};

class SideStream;

/// Everything one launch needs. Arrays of `format` and all pointers but `host` are in device memory.
struct Launch {
  formats::FormatView format;
  const std::int32_t* row_order = nullptr;  ///< new_to_old; null: rows go where they stand
  const std::byte* schedule = nullptr;
  std::byte* workspace = nullptr;
  const Schedule* host = nullptr;  ///< its `numbers`; `bytes` are gone
  const void* b = nullptr;         ///< SpMM
  std::int64_t ldb = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;
  const void* x = nullptr;  ///< SDDMM
  std::int64_t ldx = 0;
  const void* y = nullptr;
  std::int64_t ldy = 0;
  void* out = nullptr;
  bool scaled = false;
  std::int64_t n = 0;
  double alpha = 1, beta = 0;
  const DeviceInfo* device = nullptr;
  bool overlaps = false;       ///< one of two kernels that share their operands, see csr_spmm
  SideStream* side = nullptr;  ///< for kernels in two streams; null: the plan has none
};

/// One instance of a kernel. The same kernel may have several for one pair of types: the first is its default
/// precision.
struct DeviceKernel {
  std::string_view kernel;  ///< its name in kernels(): "cuda.bittcf.mma"
  DType values;             ///< of A; none for a pattern
  DType dense;              ///< of the dense operands
  Precision precision;
  int capability;  ///< the least that it runs on: 80
  bool ieee;       ///< never multiplies a zero that is not an entry, so NaN and infinity in B stay where they
                   ///< belong

  /// Divides the work of a checked matrix whose arrays are in host memory.
  Schedule (*schedule)(const formats::FormatView& host, std::span<const std::int32_t> row_order,
                       std::int64_t n, const DeviceInfo& device);
  /// Enqueues the product: allocates nothing, never waits, writes every row of C or every entry of the
  /// result. Returns a cudaError_t.
  int (*launch)(const Launch& launch, void* stream) noexcept;
  bool any_values = false;  ///< serves every type of values: `values` says nothing
};

}  // namespace sptile::runtime::cuda
