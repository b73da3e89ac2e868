#include "formats/layout/rs_tile.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 20 x 30. Entries (row, column):
// row 0: column 29; rows 1 and 10: residual too, columns 3, 4 and 5, 6;
// window at row 2, in two pieces: row 2 has columns 0 to 8, row 9 has column 3;
// window at row 12: row 12 has columns 4 and 19, row 19 has column 4.
Instance good() {
  Instance a(formats::kRsTileLayout, 20, 30, 18);
  a.set_i32("row_window_id", {2, 2, 12})
      .set_i32("row_window_offset", {0, 1, 2, 3})
      .set_i64("value_offset", {0, 9, 10, 13})
      .set_u8("window_flags", {1, 1, 0})
      .set_u64("bitmap", {0x08000000000000FF, 1, 0x0100000000000003})
      .set_i32("col_id", {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 19, 19, 19, 19, 19, 19})
      .set_f32("values", {1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13})
      .set_i32("residual_row_id", {0, 1, 10})
      .set_i32("residual_class_offset", {0, 0, 1, 3})
      .set_i32("residual_col_id", {29, 3, 4, 5, 6})
      .set_f32("residual_values", {14, 15, 16, 17, 18});
  return a;
}

// Nothing at all: what a matrix without entries becomes.
Instance empty() {
  Instance a(formats::kRsTileLayout, 9, 0, 0);
  a.set_i32("row_window_id", {})
      .set_i32("row_window_offset", {0})
      .set_i64("value_offset", {0})
      .set_u8("window_flags", {})
      .set_u64("bitmap", {})
      .set_i32("col_id", {})
      .set_i32("residual_row_id", {})
      .set_i32("residual_class_offset", {0, 0})
      .set_i32("residual_col_id", {});
  return a;
}

}  // namespace

TEST_CASE("rs_tile: a good matrix passes, with and without values") {
  accepted(good());
  accepted(good().remove("values").remove("residual_values"));
  accepted(empty());
  CHECK(formats::kRsTileLayout.tc_blocks(good().view()) == 3);
}

TEST_CASE("rs_tile: the last window may reach past the end of the matrix") {
  Instance a = good();
  a.data().rows = 13;
  a.set_u64("bitmap", {0x08000000000000FF, 1, 3}).set_i64("value_offset", {0, 9, 10, 12});
  a.data().nnz = 17;
  accepted(a.set_f32("values", {1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12}));
  refused(a.set_u64("bitmap", {0x08000000000000FF, 1, 0x0101}),
          "rs_tile: bitmap[2] = 0x101, expected no bits in rows past the end of the matrix");
}

TEST_CASE("rs_tile: every broken length is named") {
  refused(good().set_i32("row_window_id", {2, 2, 12, 13}),
          "rs_tile: row_window_id has 4 elements, expected at most one for each of 3 tiles");
  refused(good().set_i32("row_window_offset", {0, 1, 3}),
          "rs_tile: row_window_offset has 3 elements, expected 4 (windows + 1)");
  refused(good().set_i64("value_offset", {0, 9, 10}),
          "rs_tile: value_offset has 3 elements, expected 4 (windows + 1)");
  refused(good().set_u8("window_flags", {1, 1}),
          "rs_tile: window_flags has 2 elements, expected 3 (one per window)");
  refused(good().set_u64("bitmap", {1}),
          "rs_tile: bitmap has 1 elements, expected 3 (one per 8 columns of col_id)");
  refused(good().set_i32("col_id", {1}),
          "rs_tile: col_id has 1 elements, expected 8 for each of at most 2147483647 tiles");
  refused(good().set_f32("values", {1}),
          "rs_tile: values has 1 elements, expected 13 (entries outside the residual part)");
  refused(good().set_f32("residual_values", {1}),
          "rs_tile: residual_values has 1 elements, expected 5 (one per residual_col_id)");
  refused(good().remove("residual_values"), "rs_tile: residual_values has type none, expected f32");
  refused(good().set_i32("residual_class_offset", {0}),
          "rs_tile: residual_class_offset has 1 elements, expected 2 to 32 (columns + 2)");
  Instance few = good();
  few.data().nnz = 4;
  refused(few, "rs_tile: residual_col_id has 5 elements, expected at most the 4 entries of the matrix");
  Instance low = good();
  low.data().rows = 2;
  refused(low, "rs_tile: residual_row_id has 3 elements, expected at most 2 (rows)");
}

TEST_CASE("rs_tile: every broken offset is named") {
  refused(good().set_i32("row_window_offset", {0, 1, 2, 4}), "rs_tile: row_window_offset[3] = 4, expected 3");
  refused(good().set_i32("row_window_offset", {0, 0, 2, 3}),
          "rs_tile: row_window_offset[1] = 0, expected more than 0 (no window is empty)");
  refused(good().set_i64("value_offset", {0, 9, 10, 14}), "rs_tile: value_offset[3] = 14, expected 13");
  refused(good().set_i64("value_offset", {0, 8, 10, 13}),
          "rs_tile: value_offset[1] = 8, expected 9, as the bitmaps of window 0 say");
}

TEST_CASE("rs_tile: every broken window is named") {
  refused(good().set_i32("row_window_id", {2, 2, 9}),
          "rs_tile: row_window_id[2] = 9, expected 10 to 19 (windows ascend and do not overlap)");
  refused(good().set_i32("row_window_id", {-1, -1, 12}),
          "rs_tile: row_window_id[0] = -1, expected 0 to 19 (windows ascend and do not overlap)");
  refused(good().set_i32("row_window_id", {2, 2, 20}),
          "rs_tile: row_window_id[2] = 20, expected 10 to 19 (windows ascend and do not overlap)");
  refused(good().set_i32("row_window_id", {2, 2, 2147483647}),
          "rs_tile: row_window_id[2] = 2147483647, expected 10 to 19 (windows ascend and do not overlap)");
  refused(good().set_u8("window_flags", {0, 1, 0}),
          "rs_tile: window_flags[0] = 0, expected 1 (a neighbouring piece has the same rows)");
  refused(good().set_u8("window_flags", {1, 0, 0}),
          "rs_tile: window_flags[1] = 0, expected 1 (a neighbouring piece has the same rows)");
  refused(good().set_u8("window_flags", {1, 1, 1}),
          "rs_tile: window_flags[2] = 1, expected 0 (no neighbouring piece has the same rows)");
  refused(good().set_u8("window_flags", {1, 3, 0}),
          "rs_tile: window_flags[1] = 3, expected 1 (a neighbouring piece has the same rows)");
  refused(good().set_i32("row_window_id", {2, 2, 10}),
          "rs_tile: row_window_id[2] = 10, expected a window without residual rows, but row 10 is one");
}

TEST_CASE("rs_tile: every broken column is named, across the pieces of a window too") {
  refused(good().set_i32("col_id",
                         {0, 1, 2, 3, 4, 5, 6, 7, 6, 6, 6, 6, 6, 6, 6, 6, 4, 19, 19, 19, 19, 19, 19, 19}),
          "rs_tile: col_id[8] = 6, expected more than 7 (the columns of a window ascend)");
  refused(good().set_i32("col_id", {0,  1,  2,  3,  4, 5,  6,  7,  30, 30, 30, 30,
                                    30, 30, 30, 30, 4, 19, 19, 19, 19, 19, 19, 19}),
          "rs_tile: col_id[8] = 30, expected 0 to 29");
  refused(good().set_i32("col_id", {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 4, 4, 4, 4, 4, 4}),
          "rs_tile: col_id[18] = 4, expected 19 (padding repeats the last real column)");
  // Padding inside a split window.
  refused(good().set_u64("bitmap", {0x080000000000017F, 1, 0x0100000000000003}),
          "rs_tile: col_id[7] = 7, expected column 7 of tile 0 to have an entry (only the last tile of a "
          "window is "
          "padded)");
}

TEST_CASE("rs_tile: every broken residual row is named") {
  refused(good().set_i32("residual_class_offset", {0, 1, 1, 3}),
          "rs_tile: residual_class_offset[1] = 1, expected 0 (empty rows are not stored)");
  refused(good().set_i32("residual_class_offset", {0, 0, 2, 3}),
          "rs_tile: residual_class_offset counts 4 entries, expected 5, the length of residual_col_id");
  refused(good().set_i32("residual_class_offset", {0, 0, 4, 3}),
          "rs_tile: residual_class_offset[3] = 3, expected at least 4 (offsets never decrease)");
  refused(good().set_i32("residual_class_offset", {0, 0, 1, 4}),
          "rs_tile: residual_class_offset[3] = 4, expected 3");
  refused(good().set_i32("residual_row_id", {0, 10, 1}),
          "rs_tile: residual_row_id[2] = 1, expected 11 to 19 (rows of a class ascend)");
  refused(good().set_i32("residual_row_id", {1, 1, 10}),
          "rs_tile: residual_row_id[1] = 1, expected a row that no other class has");
  refused(good().set_i32("residual_row_id", {0, 1, 20}),
          "rs_tile: residual_row_id[2] = 20, expected 2 to 19 (rows of a class ascend)");
  refused(good().set_i32("residual_row_id", {-3, 1, 10}),
          "rs_tile: residual_row_id[0] = -3, expected 0 to 19 (rows of a class ascend)");
  refused(good().set_i32("residual_col_id", {29, 4, 3, 5, 6}),
          "rs_tile: residual_col_id[2] = 3, expected 5 to 29 (row 1; columns of a row ascend)");
  refused(good().set_i32("residual_col_id", {30, 3, 4, 5, 6}),
          "rs_tile: residual_col_id[0] = 30, expected 0 to 29 (row 0; columns of a row ascend)");
}
