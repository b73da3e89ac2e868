// Whether what is in device memory is a CSR matrix, checked on the device.
#pragma once

#include <string>

#include "formats/layout/csr.hpp"
#include "formats/layout/invariants.hpp"
#include "runtime/cuda/convert/csr_rows.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda {

/// First places where something is wrong; all bits set where nothing is.
struct CsrFaults {
  std::uint64_t offset, entry, order;
};

struct CheckOffsets {
  const std::int64_t* row_ptr;
  std::int64_t rows, nnz;
  CsrFaults* faults;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const bool good = i == 0 ? row_ptr[0] == 0 : row_ptr[i] >= row_ptr[i - 1];
    if (!good || (i == rows && row_ptr[i] != nnz)) atomic_min(&faults->offset, static_cast<std::uint64_t>(i));
  }
};

/// Reads only what is in the arrays, whatever the offsets are.
struct CheckColumns {
  CsrRows rows;
  const std::int32_t* col_idx;
  std::int64_t cols;
  CsrFaults* faults;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t i, std::int64_t row) {
      const std::int64_t column = col_idx[i];
      const bool ascends = i == rows.row_ptr[row] || i == 0 || column > col_idx[i - 1];
      if (column < 0 || column >= cols || !ascends) atomic_min(&faults->entry, static_cast<std::uint64_t>(i));
    });
  }
};

struct CheckOrder {
  const std::int32_t* order;
  std::int64_t rows;
  std::uint32_t* seen;
  CsrFaults* faults;

  /// Of rows that are there twice, any may come first here; which one is named does not matter.
  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = order[i];
    if (row < 0 || row >= rows || atomic_add(seen + row, 1) > 0)
      atomic_min(&faults->order, static_cast<std::uint64_t>(i));
  }
};

struct CheckRoom {
  CsrFaults* faults = nullptr;
  std::uint32_t* seen = nullptr;

  void place(Arena& arena, std::int64_t ordered_rows) {
    arena.take(faults, 1);
    arena.take(seen, ordered_rows);
  }
};

template <class Run>
Status broken_offset(Run& run, const DeviceCsr& csr, std::int64_t i) {
  std::int64_t pair[2] = {};
  run.fetch(pair + (i == 0), csr.row_ptr + (i == 0 ? 0 : i - 1), i == 0 ? 1 : 2);
  if (Status s = run.status(); !s) return s;
  const std::string place = "csr: row_ptr[" + std::to_string(i) + "] = " + std::to_string(pair[1]);
  if (i == 0 && pair[1] != 0) return fail(Errc::bad_input, place + ", expected 0 (offsets start at 0)");
  if (i > 0 && pair[1] < pair[0])
    return fail(Errc::bad_input,
                place + ", expected at least " + std::to_string(pair[0]) + " (offsets never decrease)");
  return fail(Errc::bad_input, place + ", expected " + std::to_string(csr.nnz));
}

/// The offsets must be good.
template <class Run>
Status broken_column(Run& run, const DeviceCsr& csr, std::int64_t i) {
  std::int64_t low = 0, high = csr.rows;  // the row of entry i, offset by offset
  while (high - low > 1 && run.status()) {
    const std::int64_t middle = low + (high - low) / 2;
    std::int64_t offset = 0;
    run.fetch(&offset, csr.row_ptr + middle, 1);
    (offset <= i ? low : high) = middle;
  }
  std::int64_t first = 0;
  std::int32_t column = 0, previous = -1;
  run.fetch(&first, csr.row_ptr + low, 1);
  run.fetch(&column, csr.col_idx + i, 1);
  if (i > first) run.fetch(&previous, csr.col_idx + i - 1, 1);
  if (Status s = run.status(); !s) return s;
  return fail(Errc::bad_input, "csr: col_idx[" + std::to_string(i) + "] = " + std::to_string(column) +
                                   ", expected " + std::to_string(std::int64_t{previous} + 1) + " to " +
                                   std::to_string(csr.cols - 1) + " (row " + std::to_string(low) +
                                   "; columns of a row ascend)");
}

/// Errc::bad_input, as formats::check_csr says it. Waits. A pass over the matrix.
template <class Run>
Status check_on(Run& run, const DeviceCsr& csr) {
  Room<CheckRoom> room;
  const std::int64_t ordered = csr.row_order == nullptr ? 0 : csr.rows;
  if (Status s = room.make(run, ordered); !s) return s;
  run.clear(room.seen, static_cast<std::size_t>(ordered) * sizeof *room.seen);
  run.fill(room.faults, sizeof(CsrFaults));
  run.each(csr.rows + 1, CheckOffsets{csr.row_ptr, csr.rows, csr.nnz, room.faults});
  const CsrRows rows{csr.row_ptr, csr.rows, csr.nnz};
  run.each(csr.rows == 0 ? 0 : rows.steps_apart(), CheckColumns{rows, csr.col_idx, csr.cols, room.faults});
  run.each(ordered, CheckOrder{csr.row_order, csr.rows, room.seen, room.faults});
  CsrFaults faults{};
  run.fetch(&faults, room.faults, 1);
  if (Status s = run.status(); !s) return s;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  if (faults.offset != kNone) return broken_offset(run, csr, static_cast<std::int64_t>(faults.offset));
  if (faults.entry != kNone) return broken_column(run, csr, static_cast<std::int64_t>(faults.entry));
  if (faults.order != kNone)
    return fail(Errc::bad_input,
                "row_order[" + std::to_string(faults.order) +
                    "] is no row or one that stands elsewhere too; expected a permutation of 0 to " +
                    std::to_string(csr.rows - 1));
  return {};
}

}  // namespace sptile::runtime::cuda
