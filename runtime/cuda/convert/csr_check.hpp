// Validation of a CSR matrix in device memory, on the device.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "formats/layout/csr.hpp"
#include "formats/layout/invariants.hpp"
#include "runtime/cuda/convert/csr_rows.hpp"
#include "runtime/cuda/convert/format_memory.hpp"
#include "runtime/cuda/convert/ids.hpp"

namespace sptile::runtime::cuda {

/// Errc::usage and Errc::unsupported for errors that do not depend on the arrays' contents. `name`: the
/// result, for messages.
inline Status check_device_csr(const DeviceCsr& csr, const std::string& name) {
  if (csr.rows < 0 || csr.cols < 0 || csr.nnz < 0 || csr.rows > formats::kMaxId || csr.cols > formats::kMaxId)
    return fail(
        Errc::usage,
        "csr: " + std::to_string(csr.rows) + " rows, " + std::to_string(csr.cols) + " columns, " +
            std::to_string(csr.nnz) +
            " entries; expected 0 to 2147483647 rows and columns and a non-negative number of entries");
  if (csr.row_ptr == nullptr || (csr.nnz > 0 && csr.col_idx == nullptr))
    return fail(Errc::usage, "csr: row_ptr or col_idx is null");
  if (csr.nnz > 0 && csr.value_dtype != DType::none && csr.values == nullptr)
    return fail(Errc::usage, "csr: values is null; a pattern has the value type none");
  if (csr.value_dtype != DType::none && size_of(csr.value_dtype) < 2)
    return fail(Errc::usage, "csr: values of type " + std::string(name_of(csr.value_dtype)) +
                                 "; expected elements of 2, 4 or 8 bytes");
  if (csr.nnz > std::numeric_limits<std::uint32_t>::max())
    return fail(Errc::unsupported,
                name + ": conversions on a device support at most 4294967295 entries, but the matrix has " +
                    std::to_string(csr.nnz) + "; convert on the CPU");
  return {};
}

inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// First invalid positions: in the row offsets, of an id out of range, of an entry that does not follow the
/// previous one, and in the row order.
struct CsrFaults {
  std::uint64_t offset = kNowhere, id = kNowhere, order = kNowhere, row_order = kNowhere;
};

/// Records the minimum position. Reads before the atomic, so that many invalid positions do not contend.
SPTILE_HOST_DEVICE void note_place(std::uint64_t* first, std::int64_t place) {
  const auto at = static_cast<std::uint64_t>(place);
  if (at < *static_cast<const volatile std::uint64_t*>(first)) atomic_min(first, at);
}

/// A CSR matrix of the caller, and destinations for copies of its arrays; null: no copy.
struct CsrSource {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  Ids row_ptr, col_idx;
  std::int64_t* row_ptr_copy = nullptr;  ///< required if row_ptr is 32-bit
  std::int32_t* col_idx_copy = nullptr;

  [[nodiscard]] const std::int64_t* offsets() const {
    return row_ptr.wide ? static_cast<const std::int64_t*>(row_ptr.data) : row_ptr_copy;
  }
};

struct CheckOffsets {
  CsrSource from;
  CsrFaults* faults;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t offset = from.row_ptr[i];
    const bool good = i == 0 ? offset == 0 : offset >= from.row_ptr[i - 1];
    if (!good || (i == from.rows && offset != from.nnz)) note_place(&faults->offset, i);
    if (from.row_ptr_copy != nullptr) from.row_ptr_copy[i] = offset;
  }
};

/// Stays within the arrays even if the offsets are invalid.
struct CheckColumns {
  CsrSource from;
  CsrRows rows;
  CsrFaults* faults;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t i, std::int64_t row) {
      const std::int64_t column = from.col_idx[i];
      if (column < 0 || column >= from.cols) note_place(&faults->id, i);
      if (i != rows.row_ptr[row] && i != 0 && column <= from.col_idx[i - 1]) note_place(&faults->order, i);
      if (from.col_idx_copy != nullptr) from.col_idx_copy[i] = static_cast<std::int32_t>(column);
    });
  }
};

/// Checks offsets and columns in one pass, and copies them.
template <class Run>
void look_at_csr(Run& run, const CsrSource& from, CsrFaults* faults) {
  run.each(from.rows + 1, CheckOffsets{from, faults});
  const CsrRows rows{from.offsets(), from.rows, from.nnz};
  run.each(from.rows == 0 ? 0 : rows.steps_apart(), CheckColumns{from, rows, faults});
}

struct CheckOrder {
  const std::int32_t* order;
  std::int64_t rows;
  std::uint32_t* seen;
  CsrFaults* faults;

  /// If rows are repeated, any of them may be first; the message may name any.
  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = order[i];
    if (row < 0 || row >= rows || atomic_add(seen + row, 1) > 0) note_place(&faults->row_order, i);
  }
};

struct CheckWorkspace {
  CsrFaults* faults = nullptr;
  std::uint32_t* seen = nullptr;

  void place(Arena& arena, std::int64_t ordered_rows) {
    arena.take(faults, 1);
    arena.take(seen, ordered_rows);
  }
};

template <class Run>
Status broken_offset(Run& run, const CsrSource& from, std::int64_t i) {
  const std::int64_t previous = i == 0 ? 0 : download_id(run, from.row_ptr, i - 1),
                     offset = download_id(run, from.row_ptr, i);
  if (Status s = run.status(); !s) return s;
  const std::string place = "csr: row_ptr[" + std::to_string(i) + "] = " + std::to_string(offset);
  if (i == 0 && offset != 0) return fail(Errc::bad_input, place + ", expected 0 (offsets start at 0)");
  if (i > 0 && offset < previous)
    return fail(Errc::bad_input,
                place + ", expected at least " + std::to_string(previous) + " (offsets never decrease)");
  return fail(Errc::bad_input, place + ", expected " + std::to_string(from.nnz));
}

/// Returns the row of an entry by reading offsets one by one; requires valid offsets.
template <class Run>
std::int64_t download_row(Run& run, const CsrSource& from, std::int64_t i) {
  std::int64_t low = 0, high = from.rows;
  while (high - low > 1 && run.status()) {
    const std::int64_t middle = low + (high - low) / 2;
    (download_id(run, from.row_ptr, middle) <= i ? low : high) = middle;
  }
  return low;
}

/// Requires valid offsets. ordered: columns of a row must ascend.
template <class Run>
Status broken_column(Run& run, const CsrSource& from, std::int64_t i, bool ordered) {
  const std::int64_t row = download_row(run, from, i), first = download_id(run, from.row_ptr, row),
                     column = download_id(run, from.col_idx, i),
                     min = ordered && i > first ? download_id(run, from.col_idx, i - 1) + 1 : 0;
  if (Status s = run.status(); !s) return s;
  return fail(Errc::bad_input, "csr: col_idx[" + std::to_string(i) + "] = " + std::to_string(column) +
                                   ", expected " + std::to_string(min) + " to " +
                                   std::to_string(from.cols - 1) + " (row " + std::to_string(row) +
                                   (ordered ? "; columns of a row ascend)" : ")"));
}

/// Errc::bad_input with the messages of formats::check_csr; ordered: see broken_column.
template <class Run>
Status report_csr(Run& run, const CsrSource& from, const CsrFaults& faults, bool ordered) {
  if (faults.offset != kNowhere) return broken_offset(run, from, static_cast<std::int64_t>(faults.offset));
  const std::uint64_t entry = ordered ? std::min(faults.id, faults.order) : faults.id;
  if (entry != kNowhere) return broken_column(run, from, static_cast<std::int64_t>(entry), ordered);
  return {};
}

/// Errc::bad_input with the messages of formats::check_csr. Reads the matrix once and synchronizes, unless
/// the matrix is known to be valid.
template <class Run>
Status check_on(Run& run, const DeviceCsr& csr) {
  if (csr.checked && csr.row_order == nullptr) return {};
  Workspace<CheckWorkspace> workspace;
  const std::int64_t ordered = csr.row_order == nullptr ? 0 : csr.rows;
  if (Status s = workspace.make(run, ordered); !s) return s;
  run.clear(workspace.seen, static_cast<std::size_t>(ordered) * sizeof *workspace.seen);
  run.fill(workspace.faults, sizeof(CsrFaults));
  const CsrSource from{csr.rows, csr.cols, csr.nnz, csr.row_ptr, csr.col_idx};
  if (!csr.checked) look_at_csr(run, from, workspace.faults);
  run.each(ordered, CheckOrder{csr.row_order, csr.rows, workspace.seen, workspace.faults});
  CsrFaults faults;
  run.download(&faults, workspace.faults, 1);
  if (Status s = run.status(); !s) return s;
  if (Status s = report_csr(run, from, faults, true); !s) return s;
  if (faults.row_order == kNowhere) return {};
  return fail(Errc::bad_input, "row_order[" + std::to_string(faults.row_order) +
                                   "] is not a row or occurs twice; expected a permutation of 0 to " +
                                   std::to_string(csr.rows - 1));
}

}  // namespace sptile::runtime::cuda
