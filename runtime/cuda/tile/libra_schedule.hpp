// The residual part of libra_spmm as rows for the csr kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/layout/libra.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Parts of the schedule of the whole.
inline constexpr std::size_t kTilesPart = 0, kRowsPart = 1;

/// Places of the numbers that are added to those of CsrNumber. `..._at` are byte offsets in Schedule::bytes.
enum LibraRowsNumber { kRowIdsAt = 13, kRowEntriesAt, kRowAtomicAt };

/// The rows that the residual part has to write, ascending: those with residual entries, and all rows of
/// windows without tiles. Rows of windows with tiles are written as ~row: the tiles' sums are there before.
struct ResidualRows {
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> entries;  ///< first residual entry of each, and the end
};

/// O(rows). No rows when there are no residual entries: then the TC part writes all of C.
ResidualRows residual_rows(const formats::LibraView& a);

/// Schedules the residual part for dense operands of a type.
Schedule schedule_residual(const formats::LibraView& a, DType dense, std::int64_t n,
                           const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
