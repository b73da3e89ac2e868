#include "formats/layout/libra.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 12 x 30. Entries (row, column):
// window 0: rows 0, 1 and 2 have column 4, row 7 column 9: one tile; row 1 has columns 3 and 20 beside;
// window 1: no tile; row 9 has column 4, row 11 columns 0 and 29.
Instance good() {
  Instance a(formats::kLibraSpmmLayout, 12, 30, 9);
  a.set_i32("row_window_offset", {0, 1, 1})
      .set_u32("tc_offset", {0, 4})
      .set_u64("bitmap", {0x0200000000010101})
      .set_i32("col_id", {4, 9, 9, 9, 9, 9, 9, 9})
      .set_f32("values", {1, 2, 3, 4})
      .set_i32("residual_row_id", {1, 9, 11})
      .set_i64("residual_row_offset", {0, 2, 3, 5})
      .set_i32("residual_col_id", {3, 20, 4, 0, 29})
      .set_f32("residual_values", {5, 6, 7, 8, 9});
  return a;
}

// Nothing at all: what a matrix without entries becomes.
Instance empty() {
  Instance a(formats::kLibraSpmmLayout, 9, 0, 0);
  a.set_i32("row_window_offset", {0, 0, 0})
      .set_u32("tc_offset", {0})
      .set_u64("bitmap", {})
      .set_i32("col_id", {})
      .set_i32("residual_row_id", {})
      .set_i64("residual_row_offset", {0})
      .set_i32("residual_col_id", {});
  return a;
}

}  // namespace

TEST_CASE("libra_spmm: a good matrix passes, with and without values") {
  accepted(good());
  accepted(good().remove("values").remove("residual_values"));
  accepted(empty());
  CHECK(formats::kLibraSpmmLayout.tc_blocks(good().view()) == 1);
}

TEST_CASE("libra_spmm: every broken length is named") {
  refused(good().set_i32("row_window_offset", {0, 1}),
          "libra_spmm: row_window_offset has 2 elements, expected 3 (windows of 8 rows, + 1)");
  refused(good().set_i32("col_id", {4, 9, 9, 9, 9, 9, 9}),
          "libra_spmm: col_id has 7 elements, expected 8 for each of at most 2147483647 tiles");
  refused(good().set_u32("tc_offset", {0, 4, 4}),
          "libra_spmm: tc_offset has 3 elements, expected 2 (tiles + 1)");
  refused(good().set_u64("bitmap", {}),
          "libra_spmm: bitmap has 0 elements, expected 1 (one per 8 columns of col_id)");
  refused(good().set_i32("residual_col_id", {3, 20, 4, 0, 29, 1, 1, 1, 1, 1}),
          "libra_spmm: residual_col_id has 10 elements, expected at most the 9 entries of the matrix");
  refused(good().set_i32("residual_row_id", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
          "libra_spmm: residual_row_id has 13 elements, expected at most 12 (rows)");
  refused(good().set_i64("residual_row_offset", {0, 2, 3}),
          "libra_spmm: residual_row_offset has 3 elements, expected 4 (one per residual row, + 1)");
  refused(good().set_f32("values", {1, 2, 3}),
          "libra_spmm: values has 3 elements, expected 4 (entries outside the residual part)");
  refused(good().set_f32("residual_values", {5, 6, 7, 8}),
          "libra_spmm: residual_values has 4 elements, expected 5 (one per entry of the residual part)");
}

TEST_CASE("libra_spmm: every broken invariant of the tiles is named") {
  refused(good().set_i32("row_window_offset", {0, 1, 0}),
          "libra_spmm: row_window_offset[2] = 0, expected at least 1 (offsets never decrease)");
  refused(good().set_u32("tc_offset", {0, 5}), "libra_spmm: tc_offset[1] = 5, expected 4");
  refused(good().set_u64("bitmap", {0x0200000000010100}),
          "libra_spmm: bitmap[0] = 0x200000000010100, expected 4 bits, the count from tc_offset");
  refused(good().set_i32("row_window_offset", {0, 0, 1}),
          "libra_spmm: bitmap[0] = 0x200000000010101, expected no bits in rows past the end of the matrix");
  refused(good().set_i32("col_id", {9, 4, 4, 4, 4, 4, 4, 4}),
          "libra_spmm: col_id[1] = 4, expected more than 9 (the columns of a window ascend)");
}

TEST_CASE("libra_spmm: every broken invariant of the residual rows is named") {
  refused(good().set_i64("residual_row_offset", {0, 3, 2, 5}),
          "libra_spmm: residual_row_offset[2] = 2, expected at least 3 (offsets never decrease)");
  refused(good().set_i64("residual_row_offset", {0, 2, 3, 4}),
          "libra_spmm: residual_row_offset[3] = 4, expected 5");
  refused(good().set_i64("residual_row_offset", {0, 2, 2, 5}),
          "libra_spmm: residual_row_offset[2] = 2, expected at least 3 (residual rows are not empty)");
  refused(good().set_i32("residual_row_id", {1, 9, 12}),
          "libra_spmm: residual_row_id[2] = 12, expected 10 to 11 (residual rows ascend)");
  refused(good().set_i32("residual_row_id", {-1, 9, 11}),
          "libra_spmm: residual_row_id[0] = -1, expected 0 to 11 (residual rows ascend)");
  refused(good().set_i32("residual_row_id", {1, 1, 11}),
          "libra_spmm: residual_row_id[1] = 1, expected 2 to 11 (residual rows ascend)");
  refused(good().set_i32("residual_col_id", {20, 3, 4, 0, 29}),
          "libra_spmm: residual_col_id[1] = 3, expected 21 to 29 (row 1; columns of a row ascend)");
  refused(good().set_i32("residual_col_id", {3, 20, 4, 0, 30}),
          "libra_spmm: residual_col_id[4] = 30, expected 1 to 29 (row 11; columns of a row ascend)");
  refused(good().set_i32("residual_col_id", {4, 20, 4, 0, 29}),
          "libra_spmm: residual_col_id[0] = 4, expected a column that is not in the tiles of window 0");
}
