// Rows of csr, for code that is compiled once, not for each instruction set.
#pragma once

#include "formats/layout/csr.hpp"
#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

/// The entries of a row of csr.
struct CsrRow {
  std::int64_t row;  ///< in the caller's order
  std::int64_t first, count;
  const std::int32_t* columns;  ///< from `first` on
};

/// Calls f(row) for the rows of a chunk. One thread has a row, whatever its length: the one that has its
/// first column.
template <class F>
void for_each_row(const Task& task, const Chunk& chunk, const F& f) {
  if (chunk.first_col != 0) return;
  const formats::CsrView csr = formats::as_csr(task.format);
  for (std::int64_t r = chunk.first; r < chunk.last; ++r) {
    const std::int64_t first = csr.row_ptr[static_cast<std::size_t>(r)];
    f(CsrRow{task.row_order != nullptr ? task.row_order[r] : r, first,
             csr.row_ptr[static_cast<std::size_t>(r) + 1] - first, csr.col_idx.data() + first});
  }
}

/// Where the number of entry k of a list stands.
inline std::int64_t place_of(const Task& task, std::int64_t k) {
  return task.list_order != nullptr ? task.list_order[k] : k;
}

}  // namespace sptile::runtime
