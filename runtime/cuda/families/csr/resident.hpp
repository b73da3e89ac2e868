// csr on CUDA cores for wide products of matrices with few columns: pruned layers, recommenders, small dense
// graphs. A slice of all rows of B fits into the shared memory of a multiprocessor: a block copies it once
// and multiplies a part of the rows of A by it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/csr/policy.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrResident = "cuda.csr.resident";

/// Bytes of a row of B that a group of 8 lanes reads at once. A slice is one such line, or two if they fit,
/// so that entries are read half as often.
inline constexpr int kResidentLine = 128;
inline constexpr int kResidentWarps = ResidentPolicy{}.warps;

/// Start of a warp and end of the previous one: before an entry of a row, or before the row.
struct ResidentStart {
  std::int64_t entry;
  std::int64_t row;
  bool operator==(const ResidentStart&) const = default;
};

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct ResidentHeader {
  int lines = 1;               ///< lines of a slice
  std::int64_t parts = 0;      ///< parts of the rows; each is one block per slice
  std::int64_t starts_at = 0;  ///< ResidentStart of all warps of each part, and the end
};

/// Returns the columns of B in a slice of `lines` lines.
constexpr std::int64_t resident_columns(int lines, DType dense) {
  return lines * kResidentLine / static_cast<std::int64_t>(size_of(dense));
}

/// Returns the bytes of shared memory: `rows` rows of B, a row of zeros, and a slice of sums per warp.
constexpr std::int64_t resident_bytes(std::int64_t rows, int lines, DType dense) {
  return (rows + 1) * lines * kResidentLine + kResidentWarps * resident_columns(lines, dense) * 4;
}

/// Returns the lines of a slice for n columns of B; 0 if not even one fits.
int resident_lines(std::int64_t rows, std::int64_t n, DType dense, const DeviceInfo& device);

/// Errc::unsupported for heads, and for matrices whose B does not fit.
Status check_resident(const ServiceRequest& request, DType dense);

/// Divides the rows. O(parts log(rows)).
Schedule resident_schedule(const ScheduleRequest& request, DType dense);

/// Returns the minimum number of columns with the same division.
std::int64_t resident_least_n(const ResidentHeader& header, std::int64_t n, DType dense);

/// Stored schedules contain the starts, which follow from the rows.
inline constexpr std::uint32_t kResidentVersion = 1;
Result<Schedule> read_resident(const ScheduleRequest& request, const StoredSchedule& stored, DType dense);

std::span<const DeviceKernel> resident_kernels();

}  // namespace sptile::runtime::cuda
