#include "formats/layout/bmat.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 18 x 20, so two windows; the second has two rows. Entries (row, column):
// window 0: row 0 has columns 0 to 8 (tile 0: 0..7, tile 1: 8), row 15 has column 3;
// window 1: row 16 has columns 4 and 19, row 17 has column 4.
Instance good() {
  Instance a(formats::kBmatLayout, 18, 20, 13);
  a.set_i32("row_window_offset", {0, 2, 3})
      .set_i64("value_offset", {0, 10, 13})
      .set_u32("bits", {0xF, 0x80000000, 0xF, 0, 1, 0, 0, 0, 0x13, 0, 0, 0})
      .set_i32("col_id", {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 19, 19, 19, 19, 19, 19})
      .set_f32("values", {1, 2, 3, 4, 10, 5, 6, 7, 8, 9, 11, 12, 13});
  return a;
}

}  // namespace

TEST_CASE("bmat: a good matrix passes, with and without values") {
  accepted(good());
  accepted(good().remove("values"));
  accepted(Instance(formats::kBmatLayout, 1, 1, 0)
               .set_i32("row_window_offset", {0, 0})
               .set_i64("value_offset", {0, 0})
               .set_u32("bits", {})
               .set_i32("col_id", {}));
  CHECK(formats::kBmatLayout.tc_blocks(good().view()) == 3);
}

TEST_CASE("bmat: every broken length is named") {
  refused(good().set_i32("row_window_offset", {0, 3}),
          "bmat: row_window_offset has 2 elements, expected 3 (windows of 16 rows, + 1)");
  refused(good().set_i64("value_offset", {0, 10, 13, 13}),
          "bmat: value_offset has 4 elements, expected 3 (windows of 16 rows, + 1)");
  refused(good().set_u32("bits", {1, 2, 3}), "bmat: bits has 3 elements, expected 12 (4 per tile)");
  refused(good().set_i32("col_id", {1, 2, 3}),
          "bmat: col_id has 3 elements, expected 8 for each of at most 2147483647 tiles");
  refused(good().set_f32("values", {1}), "bmat: values has 1 elements, expected 13 (one per entry)");
}

TEST_CASE("bmat: every broken offset is named") {
  refused(good().set_i32("row_window_offset", {0, 4, 3}),
          "bmat: row_window_offset[2] = 3, expected at least 4 (offsets never decrease)");
  refused(good().set_i32("row_window_offset", {0, 2, 2}), "bmat: row_window_offset[2] = 2, expected 3");
  refused(good().set_i64("value_offset", {0, 10, 14}), "bmat: value_offset[2] = 14, expected 13");
  refused(good().set_i64("value_offset", {0, 9, 13}),
          "bmat: value_offset[1] = 9, expected 10, as the bits of window 0 say");
  refused(good().set_i64("value_offset", {0, -1, 13}),
          "bmat: value_offset[1] = -1, expected at least 0 (offsets never decrease)");
}

TEST_CASE("bmat: bits of rows that do not exist are named") {
  refused(good().set_u32("bits", {0xF, 0x80000000, 0xF, 0, 1, 0, 0, 0, 0x103, 0, 0, 0}),
          "bmat: bits[8] = 0x103, expected no bits in rows past the end of the matrix");
  refused(good().set_u32("bits", {0xF, 0x80000000, 0xF, 0, 1, 0, 0, 0, 0x3, 1, 0, 0}),
          "bmat: bits[9] = 0x1, expected no bits in rows past the end of the matrix");
}

TEST_CASE("bmat: every broken column is named") {
  refused(good().set_i32("col_id",
                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 20, 20, 20, 20, 20, 20, 20}),
          "bmat: col_id[17] = 20, expected 0 to 19");
  refused(good().set_i32("col_id",
                         {0, 1, 2, 3, 4, 4, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 19, 19, 19, 19, 19, 19}),
          "bmat: col_id[5] = 4, expected more than 4 (the columns of a window ascend)");
  refused(good().set_i32("col_id",
                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 4, 19, 19, 19, 19, 19, 19, 19}),
          "bmat: col_id[9] = 0, expected 8 (padding repeats the last real column)");
}

TEST_CASE("bmat: a column without entries is only allowed as padding of the last tile") {
  refused(
      good().set_u32("bits", {0xF, 0x80000000, 0x1D, 0, 1, 0, 0, 0, 0x13, 0, 0, 0}),
      "bmat: col_id[5] = 5, expected column 5 of tile 0 to have an entry (only the last tile of a window is "
      "padded)");
  refused(good().set_u32("bits", {0xF, 0x80000000, 0xF, 0, 0, 0, 1, 0, 0x13, 0, 0, 0}),
          "bmat: col_id[8] = 8, expected column 0 of tile 1 to have an entry (no tile is empty)");
}
