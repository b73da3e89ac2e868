// Conversion of callers' entries to CSR: one pass for sorted entries, otherwise a sort.
#pragma once

#include <limits>
#include <string>
#include <utility>

#include "runtime/cuda/convert/column_sort.hpp"
#include "runtime/cuda/convert/csr_check.hpp"
#include "runtime/cuda/convert/sorted_entries.hpp"

namespace sptile::runtime::cuda {

/// Maximum number of entries, limited by 32-bit positions.
inline constexpr std::int64_t kMaxEntries = std::numeric_limits<std::uint32_t>::max();

/// Checks the entries of a COO matrix, and copies their columns if `columns` is not null.
struct CheckEntries {
  Ids row, col;
  std::int64_t rows, cols;
  std::int32_t* columns;
  CsrFaults* faults;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t r = row[i], c = col[i];
    if (r < 0 || r >= rows || c < 0 || c >= cols) note_place(&faults->id, i);
    if (i > 0 && (r < row[i - 1] || (r == row[i - 1] && c <= col[i - 1]))) note_place(&faults->order, i);
    if (columns != nullptr) columns[i] = static_cast<std::int32_t>(c);
  }
};

/// Finds the start of each row in entries with ascending rows; if they do not ascend, any number up to
/// `entries`.
struct FindRows {
  Ids row;
  std::int64_t entries;
  std::int64_t* row_ptr;

  SPTILE_HOST_DEVICE void operator()(std::int64_t r) const { row_ptr[r] = lower_bound(row, entries, r); }
};

struct KeyEntry {
  EntryKey key;
  Ids col;
  SortBuffers sort;

  SPTILE_HOST_DEVICE void make(std::int64_t i, std::int64_t row) const {
    sort.keys[i] = key.make(row, col[i], 0);
    sort.items[i] = static_cast<std::uint32_t>(i);
  }
};

struct KeyCooEntries {
  KeyEntry entry;
  Ids row;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { entry.make(i, row[i]); }
};

struct KeyCsrEntries {
  KeyEntry entry;
  CsrRows rows;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t i, std::int64_t row) { entry.make(i, row); });
  }
};

/// Finds the first sorted entry at the same position as the previous one.
struct FindRepeated {
  SortedEntries sorted;
  CsrFaults* faults;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (!sorted.starts(i)) note_place(&faults->order, i);
  }
};

struct FaultWorkspace {
  CsrFaults* faults = nullptr;

  void place(Arena& arena) { arena.take(faults, 1); }
};

struct EntrySortWorkspace {
  SortBuffers sort;
  std::uint32_t* before = nullptr;

  void place(Arena& arena, std::int64_t entries) {
    sort.place(arena, entries);
    arena.take(before, entries + 1);
  }
};

inline bool is_id(DType type) { return type == DType::i32 || type == DType::i64; }

/// Errc::usage and Errc::unsupported for errors that do not depend on the entries.
inline Status check_entries(const DeviceEntries& e, Disorder disorder) {
  const std::string name = e.row_is_pointer ? "csr" : "coo";
  if (e.rows < 0 || e.cols < 0 || e.nnz < 0 || e.rows > formats::kMaxId || e.cols > formats::kMaxId)
    return fail(
        Errc::usage,
        name + ": " + std::to_string(e.rows) + " rows, " + std::to_string(e.cols) + " columns, " +
            std::to_string(e.nnz) +
            " entries; expected 0 to 2147483647 rows and columns and a non-negative number of entries");
  if (e.nnz > kMaxEntries)
    return fail(Errc::unsupported, name + ": a matrix on a device has at most 4294967295 entries, not " +
                                       std::to_string(e.nnz) + "; convert on the CPU");
  for (const DType type : {e.row_type, e.col_type})
    if (!is_id(type))
      return fail(Errc::usage,
                  name + ": rows and columns must have type i32 or i64, not " + std::string(name_of(type)));
  const bool has_rows = e.row_is_pointer || e.nnz > 0;
  if ((has_rows && e.row == nullptr) || (e.nnz > 0 && e.col == nullptr))
    return fail(Errc::usage, name + ": the rows or the columns are null");
  if (e.nnz > 0 && e.value_dtype != DType::none && e.values == nullptr)
    return fail(Errc::usage, name + ": the values are null; a pattern has the value type none");
  const DTypeInfo& values = info(e.value_dtype);
  if (e.value_dtype != DType::none && (disorder == Disorder::sum ? !values.is_value : values.bytes < 2))
    return fail(Errc::usage,
                name + ": values of type " + std::string(values.name) +
                    (disorder == Disorder::sum ? " cannot be summed; expected f16, bf16, f32 or f64"
                                               : "; expected elements of 2, 4 or 8 bytes"));
  return {};
}

/// Returns the position of a COO entry for messages: "(2, 3)".
template <class Run>
std::string download_place(Run& run, const DeviceEntries& e, std::int64_t i) {
  return "(" + std::to_string(download_id(run, Ids(e.row, e.row_type), i)) + ", " +
         std::to_string(download_id(run, Ids(e.col, e.col_type), i)) + ")";
}

/// Errc::bad_input for an invalid COO matrix.
template <class Run>
Status report_coo(Run& run, const DeviceEntries& e, const CsrFaults& faults, bool ordered) {
  const std::uint64_t first = ordered ? std::min(faults.id, faults.order) : faults.id;
  if (first == kNowhere) return {};
  const auto i = static_cast<std::int64_t>(first);
  std::string text = "coo: entry " + std::to_string(i) + " is " + download_place(run, e, i) + ", expected ";
  if (faults.id <= first)
    text += "rows 0 to " + std::to_string(e.rows - 1) + " and columns 0 to " + std::to_string(e.cols - 1);
  else
    text += "an entry after " + download_place(run, e, i - 1) + " (entries ascend by row, then column)";
  if (Status s = run.status(); !s) return s;
  return fail(Errc::bad_input, std::move(text));
}

/// Errc::bad_input for the first position with two entries.
template <class Run>
Status report_repeated(Run& run, const DeviceEntries& e, const SortedEntries& sorted) {
  Workspace<FaultWorkspace> workspace;
  if (Status s = workspace.make(run); !s) return s;
  run.fill(workspace.faults, sizeof(CsrFaults));
  run.each(sorted.entries, FindRepeated{sorted, workspace.faults});
  CsrFaults faults;
  run.download(&faults, workspace.faults, 1);
  if (Status s = run.status(); !s) return s;
  std::uint64_t key = 0;
  std::uint32_t entries[2] = {};
  run.download(&key, sorted.keys + faults.order, 1);
  run.download(entries, sorted.from + faults.order - 1, 2);
  if (Status s = run.status(); !s) return s;
  return fail(Errc::bad_input, std::string(e.row_is_pointer ? "csr" : "coo") + ": entries " +
                                   std::to_string(entries[0]) + " and " + std::to_string(entries[1]) +
                                   " are both (" + std::to_string(sorted.key.window(key)) + ", " +
                                   std::to_string(sorted.key.column(key)) +
                                   "); expected one per position, or request their sum");
}

/// Sorts entries with valid ids. offsets: row offsets, for CSR.
template <class Run>
Result<OwnedCsr> sort_entries(Run& run, const DeviceEntries& e, const std::int64_t* offsets,
                              const DeviceCsr& shape, Disorder disorder) {
  Workspace<EntrySortWorkspace> workspace;
  if (Status s = workspace.make(run, e.nnz); !s) return tl::unexpected(s.error());
  const EntryKey key{bits_for(e.cols - 1), 0};
  const KeyEntry entry{key, Ids(e.col, e.col_type), workspace.sort};
  const CsrRows rows{offsets, e.rows, e.nnz};
  if (e.row_is_pointer)
    run.each(rows.steps_apart(), KeyCsrEntries{entry, rows});
  else
    run.each(e.nnz, KeyCooEntries{entry, Ids(e.row, e.row_type)});
  run.sort(workspace.sort, e.nnz, 0, key.column_bits + bits_for(e.rows - 1));
  run.each(e.nnz + 1, MarkColumns{key, workspace.sort.keys, e.nnz, workspace.before});
  run.sum(workspace.before, e.nnz + 1);
  std::uint32_t places = 0;
  run.download(&places, workspace.before + e.nnz, 1);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  SortedEntries sorted{key, e.nnz, workspace.sort.keys, workspace.sort.items, workspace.before};
  if (places < e.nnz && disorder == Disorder::sort)
    return tl::unexpected(report_repeated(run, e, sorted).error());
  if (places == e.nnz) sorted.before = nullptr;
  DeviceCsr summed = shape;
  summed.nnz = places;
  return csr_of_sorted(run, sorted, summed, e.values, true);
}

/// Returns the arrays of the caller that the result can borrow.
inline DeviceCsr lent_arrays(const DeviceEntries& e) {
  DeviceCsr lent;
  if (e.row_is_pointer && e.row_type == DType::i64) lent.row_ptr = static_cast<const std::int64_t*>(e.row);
  if (e.col_type == DType::i32) lent.col_idx = static_cast<const std::int32_t*>(e.col);
  if (e.value_dtype != DType::none) lent.values = e.values;
  return lent;
}

/// Checks all entries, and copies them under the assumption that they are sorted. Synchronizes.
template <class Run>
CsrFaults take_entries(Run& run, const DeviceEntries& e, const CsrSource& from, const OwnedCsr& to,
                       CsrFaults* workspace) {
  run.fill(workspace, sizeof *workspace);
  if (e.row_is_pointer) {
    look_at_csr(run, from, workspace);
  } else {
    const Ids row(e.row, e.row_type);
    run.each(e.nnz, CheckEntries{row, from.col_idx, e.rows, e.cols, from.col_idx_copy, workspace});
    run.each(e.rows + 1, FindRows{row, e.nnz, from.row_ptr_copy});
  }
  if (to.csr.values != e.values)
    run.copy(made_array<void>(to.csr.values), e.values,
             static_cast<std::size_t>(e.nnz) * size_of(e.value_dtype));
  CsrFaults faults;
  run.download(&faults, workspace, 1);
  return faults;
}

/// Implements canonical_csr.
template <class Run>
Result<OwnedCsr> canonical_on(Run& run, const DeviceEntries& e, const EntryOptions& options) {
  if (Status s = check_entries(e, options.disorder); !s) return tl::unexpected(s.error());
  const bool ordered = options.disorder == Disorder::refuse;
  const DeviceCsr lent = options.borrow ? lent_arrays(e) : DeviceCsr{};
  DeviceCsr shape;
  shape.rows = e.rows, shape.cols = e.cols, shape.nnz = e.nnz;
  shape.value_dtype = e.value_dtype, shape.ordinal = e.ordinal;
  auto made = make_csr(run, shape, lent);
  if (!made) return made;
  const bool all_lent = lent.row_ptr != nullptr && lent.col_idx != nullptr;  // values are always borrowed
  if (options.trusted && ordered && all_lent) return made;
  Workspace<FaultWorkspace> workspace;
  if (Status s = workspace.make(run); !s) return tl::unexpected(s.error());
  CsrSource from{e.rows, e.cols, e.nnz, Ids(e.row, e.row_type), Ids(e.col, e.col_type)};
  if (lent.row_ptr == nullptr) from.row_ptr_copy = made_array<std::int64_t>(made->csr.row_ptr);
  if (lent.col_idx == nullptr) from.col_idx_copy = made_array<std::int32_t>(made->csr.col_idx);
  const CsrFaults faults = take_entries(run, e, from, *made, workspace.faults);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  const Status good =
      e.row_is_pointer ? report_csr(run, from, faults, ordered) : report_coo(run, e, faults, ordered);
  if (!good) return tl::unexpected(good.error());
  if (faults.order == kNowhere) return made;
  return sort_entries(run, e, from.offsets(), shape, options.disorder);
}

}  // namespace sptile::runtime::cuda
