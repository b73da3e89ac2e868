#include "formats/layout/csr.hpp"

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

using A = CsrArray;
constexpr ArraySpec kArrays[] = {
    {"row_ptr", DType::i64}, {"col_idx", DType::i32, false, true}, {"values", DType::none, true}};

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view); !s) return s;
  if (Status s = check_length(view, A::row_ptr, view.rows + 1, "rows + 1"); !s) return s;
  if (Status s = check_length(view, A::col_idx, view.nnz, "one per entry"); !s) return s;
  return check_length(view, A::values, view.nnz, "one per entry");
}

Status check_row(const FormatView& view, const CsrView& a, std::int64_t r) {
  std::int64_t previous = -1;
  const std::int64_t end = a.row_ptr[static_cast<std::size_t>(r) + 1];
  for (std::int64_t i = a.row_ptr[static_cast<std::size_t>(r)]; i < end; ++i) {
    const std::int64_t column = a.col_idx[static_cast<std::size_t>(i)];
    if (column <= previous || column >= a.cols)
      return broken_column(view, A::col_idx, i, column, previous, r);
    previous = column;
  }
  return {};
}

Status check_all_offsets(const FormatView& view, int threads) {
  return check_offsets(view, A::row_ptr, as_csr(view).row_ptr, view.nnz, threads);
}

Status check_contents(const FormatView& view, int threads) {
  const CsrView a = as_csr(view);
  if (Status s = check_all_offsets(view, threads); !s) return s;
  return check_each(a.rows, threads, [&](std::int64_t r) { return check_row(view, a, r); });
}

std::int64_t no_tc_blocks(const FormatView&) { return 0; }

Blocks blocks(const FormatView& view) {
  Blocks blocks;
  blocks.rows.offset = view.array(A::row_ptr).as<std::int64_t>();
  blocks.rows.columns = view.array(A::col_idx).as<std::int32_t>();
  return blocks;
}

}  // namespace

constexpr FormatLayout kCsrLayout = {.name = "csr",
                                     .summary = "compressed sparse rows, 64-bit row pointers",
                                     .group = "/csr",
                                     .window_rows = 0,
                                     .tile_rows = 0,
                                     .tile_cols = 0,
                                     .arrays = kArrays,
                                     .check_lengths = check_lengths,
                                     .check_contents = check_contents,
                                     .tc_blocks = no_tc_blocks,
                                     .blocks = blocks,
                                     .check_offsets = check_all_offsets};

CsrView as_csr(const FormatView& view) {
  return {view.rows, view.cols, view.array(A::row_ptr).as<std::int64_t>(),
          view.array(A::col_idx).as<std::int32_t>(), view.array(A::values)};
}

FormatView as_format(const CsrView& csr) {
  FormatView view{&kCsrLayout, csr.rows, csr.cols, csr.nnz(), {}};
  view.array(A::row_ptr) = ArrayView(csr.row_ptr);
  view.array(A::col_idx) = ArrayView(csr.col_idx);
  view.array(A::values) = csr.values;
  return view;
}

Status check_csr(const CsrView& csr, int threads) { return check(as_format(csr), threads); }

}  // namespace sptile::formats
