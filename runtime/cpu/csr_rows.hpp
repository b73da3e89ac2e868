// Iteration over csr rows for code that is compiled once, not per instruction set.
#pragma once

#include "formats/core/half.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

/// The entries of a csr row.
struct CsrRow {
  std::int64_t row;  ///< in original order
  std::int64_t first, count;
  const std::int32_t* columns;  ///< starting at entry `first`
};

/// Calls f(row) for the rows of a chunk. A row is not split: it belongs to the chunk with its first column.
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

/// Reads element k of the values; 1 for a pattern.
inline double value_of(const formats::CsrView& a, std::int64_t k) {
  const void* const values = a.values.data;
  switch (a.values.dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<const float*>(values)[k]);
    case DType::f64:
      return static_cast<const double*>(values)[k];
    case DType::f16:
      return static_cast<double>(to_float(static_cast<const Half*>(values)[k]));
    case DType::bf16:
      return static_cast<double>(to_float(static_cast<const BFloat16*>(values)[k]));
    default:
      return 1;
  }
}

/// Returns the output position of entry k of a list.
inline std::int64_t place_of(const Task& task, std::int64_t k) {
  return task.list_order != nullptr ? task.list_order[k] : k;
}

}  // namespace sptile::runtime
