// Gathers rows of a CSR matrix on the device.
#pragma once

#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda {

/// Computes the entries of each row of the result, and a final 0. Rows maps to the source row; negative: an
/// empty row.
template <class Rows>
struct CountRowEntries {
  const std::int64_t* row_ptr;
  Rows old_row;
  std::int64_t rows;
  std::int64_t* entries;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    const std::int64_t old = row < rows ? old_row(row) : -1;
    entries[row] = old < 0 ? 0 : row_ptr[old + 1] - row_ptr[old];
  }
};

template <class Rows>
struct GatherColumns {
  const std::int64_t *row_ptr, *new_ptr;
  const std::int32_t* col_idx;
  Rows old_row;
  std::int64_t rows;
  std::int32_t* to;
  std::uint32_t* from;  ///< original positions of the entries; null: not needed

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = last_at_most(new_ptr, rows, i);
    const std::int64_t old = row_ptr[old_row(row)] + i - new_ptr[row];
    to[i] = col_idx[old];
    if (from != nullptr) from[i] = static_cast<std::uint32_t>(old);
  }
};

template <class Word, class Index = std::uint32_t>
struct GatherValues {
  const Index* from;
  const Word* values;
  Word* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = values[from[i]]; }
};

/// Maps row i to order[i].
struct OrderedRows {
  const std::int32_t* order;

  SPTILE_HOST_DEVICE std::int64_t operator()(std::int64_t row) const { return order[row]; }
};

/// Computes the first entry of each row of the result: rows + 1 offsets.
template <class Run, class Rows>
void number_rows(Run& run, const DeviceCsr& csr, const Rows& old_row, std::int64_t rows, std::int64_t* to) {
  run.each(rows + 1, CountRowEntries<Rows>{csr.row_ptr, old_row, rows, to});
  run.sum(to, rows + 1);
}

}  // namespace sptile::runtime::cuda
