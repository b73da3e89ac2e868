#include "formats/layout/hc_window.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 36 x 30. Entries (row, column):
// window 0, in a tile: rows 0, 1 and 9 have column 4, row 15 column 9;
// window 1, in rows: row 17 has columns 3 and 20, row 31 column 4;
// window 2, of four rows, in a tile: row 35 has columns 0 and 29.
Instance good() {
  Instance a(formats::kHcWindowLayout, 36, 30, 9);
  a.set_i32("row_window_offset", {0, 1, 1, 2})
      .set_u32("tc_offset", {0, 4, 6})
      .set_u64("bitmap", {0x0101, 0x0200000000000100, 0x03000000, 0})
      .set_i32("col_id", {4, 9, 9, 9, 9, 9, 9, 9, 0, 29, 29, 29, 29, 29, 29, 29})
      .set_f32("values", {1, 2, 3, 4, 5, 6})
      .set_i32("row_id", {17, 31})
      .set_i64("row_offset", {0, 2, 3})
      .set_i32("row_col_id", {3, 20, 4})
      .set_f32("row_values", {7, 8, 9});
  return a;
}

// Nothing at all: what a matrix without entries becomes.
Instance empty() {
  Instance a(formats::kHcWindowLayout, 17, 0, 0);
  a.set_i32("row_window_offset", {0, 0, 0})
      .set_u32("tc_offset", {0})
      .set_u64("bitmap", {})
      .set_i32("col_id", {})
      .set_i32("row_id", {})
      .set_i64("row_offset", {0})
      .set_i32("row_col_id", {});
  return a;
}

}  // namespace

TEST_CASE("hc_window: a good matrix passes, with and without values") {
  accepted(good());
  accepted(good().remove("values").remove("row_values"));
  accepted(empty());
  CHECK(formats::kHcWindowLayout.tc_blocks(good().view()) == 2);
}

TEST_CASE("hc_window: every broken length is named") {
  refused(good().set_i32("row_window_offset", {0, 1}),
          "hc_window: row_window_offset has 2 elements, expected 4 (windows of 16 rows, + 1)");
  refused(good().set_i32("col_id", {4, 9, 9, 9, 9, 9, 9}),
          "hc_window: col_id has 7 elements, expected 8 for each of at most 2147483647 tiles");
  refused(good().set_u32("tc_offset", {0, 4}), "hc_window: tc_offset has 2 elements, expected 3 (tiles + 1)");
  refused(good().set_u64("bitmap", {1, 2}),
          "hc_window: bitmap has 2 elements, expected 4 (two per 8 columns of col_id)");
  refused(good().set_i32("row_col_id", {3, 20, 4, 0, 29, 1, 1, 1, 1, 1}),
          "hc_window: row_col_id has 10 elements, expected at most 9 (entries of the matrix)");
  Instance few(formats::kHcWindowLayout, 1, 30, 1);
  few.set_i32("row_window_offset", {0, 0})
      .set_u32("tc_offset", {0})
      .set_u64("bitmap", {})
      .set_i32("col_id", {})
      .set_i32("row_id", {0, 1})
      .set_i64("row_offset", {0, 1, 1})
      .set_i32("row_col_id", {1});
  refused(few, "hc_window: row_id has 2 elements, expected at most 1 (rows of the matrix)");
  refused(good().set_i64("row_offset", {0, 2}),
          "hc_window: row_offset has 2 elements, expected 3 (one per element of row_id, + 1)");
  refused(good().set_f32("values", {1, 2, 3}),
          "hc_window: values has 3 elements, expected 6 (entries outside row_col_id)");
  refused(good().set_f32("row_values", {7, 8}),
          "hc_window: row_values has 2 elements, expected 3 (one per element of row_col_id)");
}

TEST_CASE("hc_window: every broken invariant of the tiles is named") {
  refused(good().set_i32("row_window_offset", {0, 1, 0, 2}),
          "hc_window: row_window_offset[2] = 0, expected at least 1 (offsets never decrease)");
  refused(good().set_u32("tc_offset", {0, 4, 7}), "hc_window: tc_offset[2] = 7, expected 6");
  refused(
      good().set_u64("bitmap", {0x0101, 0x0300000000000100, 0x03000000, 0}),
      "hc_window: bitmap[0] = 0x101, expected 4 bits in this and the next mask, the count from tc_offset");
  refused(good().set_u64("bitmap", {0x0101, 0x0200000000000100, 0x0300000000, 0}),
          "hc_window: bitmap[2] = 0x300000000, expected no bits in rows past the end of the matrix");
  refused(good().set_u64("bitmap", {0x0101, 0x0200000000000100, 0x01000000, 0x02}),
          "hc_window: bitmap[3] = 0x2, expected no bits in rows past the end of the matrix");
  refused(good().set_i32("col_id", {9, 4, 4, 4, 4, 4, 4, 4, 0, 29, 29, 29, 29, 29, 29, 29}),
          "hc_window: col_id[1] = 4, expected more than 9 (the columns of a window ascend)");
}

TEST_CASE("hc_window: every broken invariant of the rows is named") {
  refused(good().set_i64("row_offset", {0, 4, 3}),
          "hc_window: row_offset[2] = 3, expected at least 4 (offsets never decrease)");
  refused(good().set_i64("row_offset", {0, 2, 2}), "hc_window: row_offset[2] = 2, expected 3");
  refused(good().set_i64("row_offset", {0, 0, 3}),
          "hc_window: row_offset[1] = 0, expected at least 1 (rows in row_id are not empty)");
  refused(good().set_i32("row_id", {17, 36}), "hc_window: row_id[1] = 36, expected 18 to 35 (rows ascend)");
  refused(good().set_i32("row_id", {-1, 31}), "hc_window: row_id[0] = -1, expected 0 to 35 (rows ascend)");
  refused(good().set_i32("row_id", {17, 17}), "hc_window: row_id[1] = 17, expected 18 to 35 (rows ascend)");
  refused(good().set_i32("row_id", {17, 32}),
          "hc_window: row_id[1] = 32, expected a row of a window without tiles, but window 2 is not");
  refused(good().set_i32("row_col_id", {20, 3, 4}),
          "hc_window: row_col_id[1] = 3, expected 21 to 29 (row 17; columns of a row ascend)");
  refused(good().set_i32("row_col_id", {3, 20, 30}),
          "hc_window: row_col_id[2] = 30, expected 0 to 29 (row 31; columns of a row ascend)");
}
