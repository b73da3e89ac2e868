// Decoder of hc_window, whose windows have the layout of libra with 16 rows and contain one of the two parts.
// Compiled once per instruction set.
#pragma once

#include "formats/layout/hc_window.hpp"
#include "runtime/cpu/libra_decoder.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Returns the arrays under the names of libra.
inline formats::LibraView two_parts(const formats::HcWindowView& a) {
  return {a.rows,   a.cols,   a.nnz,    a.row_window_offset, a.tc_offset,  a.bitmap,
          a.col_id, a.values, a.row_id, a.row_offset,        a.row_col_id, a.row_values};
}

template <class V, class A>
struct HcWindowDecoder : TwoPartDecoder<V, A, 2> {
  explicit HcWindowDecoder(const Task& task)
      : TwoPartDecoder<V, A, 2>(task, two_parts(formats::as_hc_window(task.format))) {}
};

/// Kernel of `hc_window`; a unit is a window.
using HcWindowKernel = WindowKernel<HcWindowDecoder>;

}  // namespace sptile::runtime::SPTILE_ISA
