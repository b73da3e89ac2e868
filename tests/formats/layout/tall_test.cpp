#include "formats/layout/tall.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 40 x 20 in windows of 16, 8 and 16 rows (the middle one is empty). Entries (row, column):
// window 0: row 0 has columns 0 to 7 and 9, row 8 has columns 9 and 12. Sorted by sub-windows: columns 0 to 7
// (sub-window 0), 9 (both), but 12 (sub-window 1) comes before 9: groups 0..7 | 12 9.
// window 2: row 39 has column 19: sub-window 1.
Instance good() {
  Instance a(formats::kTallLayout, 40, 20, 12);
  a.set_i32("window_row", {0, 16, 24, 40})
      .set_i32("window_group_offset", {0, 2, 2, 3})
      .set_u32("group_mask", {1, 3, 2})
      .set_i32("group_tile_offset", {0, 1, 3, 4})
      .set_i32("col_id", {0, 1, 2, 3, 4, 5, 6, 7, 12, 9, 9, 9, 9, 9, 9, 9, 19, 19, 19, 19, 19, 19, 19, 19})
      .set_u64("bitmap", {0xFF, 0x02, 0x03, 0x0100000000000000})
      .set_u32("value_offset", {0, 8, 9, 11, 12})
      .set_f32("values", {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10, 12});
  return a;
}

}  // namespace

TEST_CASE("tall: a good matrix passes, with and without values, with windows of different heights") {
  accepted(good());
  accepted(good().remove("values"));
  accepted(Instance(formats::kTallLayout, 9, 4, 0)
               .set_i32("window_row", {0, 9})
               .set_i32("window_group_offset", {0, 0})
               .set_u32("group_mask", {})
               .set_i32("group_tile_offset", {0})
               .set_i32("col_id", {})
               .set_u64("bitmap", {})
               .set_u32("value_offset", {0}));
  CHECK(formats::kTallLayout.tc_blocks(good().view()) == 4);
}

TEST_CASE("tall: the typed view finds sub-windows and tiles") {
  const Instance a = good();
  const formats::TallView view = formats::as_tall(a.view());
  CHECK(view.windows() == 3);
  CHECK(view.sub_windows(0) == 2);
  CHECK(view.sub_windows(1) == 1);
  CHECK(view.tile(0, 0) == 0);
  CHECK(view.tile(1, 0) == 1);
  CHECK(view.tile(1, 1) == 2);
  CHECK(view.tile(2, 1) == 3);
}

TEST_CASE("tall: every broken length is named") {
  refused(good().set_i32("window_row", {0}),
          "tall: window_row has 1 elements, expected 2 to 6 (windows of 8 to 128 rows, + 1)");
  refused(good().set_i32("window_row", {0, 8, 16, 24, 32, 40, 40}),
          "tall: window_row has 7 elements, expected 2 to 6 (windows of 8 to 128 rows, + 1)");
  refused(good().set_i32("window_group_offset", {0, 3}),
          "tall: window_group_offset has 2 elements, expected 4 (windows + 1)");
  refused(good().set_u32("group_mask", {1}),
          "tall: group_mask has 1 elements, expected 3 (one per 8 columns of col_id)");
  refused(good().set_i32("group_tile_offset", {1}),
          "tall: group_tile_offset has 1 elements, expected 4 (groups + 1)");
  refused(good().set_i32("col_id", {0, 1, 2}),
          "tall: col_id has 3 elements, expected 8 for each of at most 2147483647 tiles");
  refused(good().set_u32("value_offset", {0, 12}),
          "tall: value_offset has 2 elements, expected 5 (tiles + 1)");
  refused(good().set_f32("values", {1}), "tall: values has 1 elements, expected 12 (one per entry)");
  Instance huge = good();
  huge.data().nnz = std::int64_t{1} << 32;
  refused(huge, "tall: 4294967296 entries, expected 0 to 4294967295");
}

TEST_CASE("tall: every broken window start is named") {
  refused(good().set_i32("window_row", {8, 16, 24, 40}), "tall: window_row[0] = 8, expected 0");
  refused(good().set_i32("window_row", {0, 12, 24, 40}),
          "tall: window_row[1] = 12, expected a multiple of 8");
  refused(good().set_i32("window_row", {0, 24, 24, 40}),
          "tall: window_row[2] = 24, expected 25 to 152 (windows of at most 128 rows)");
  refused(good().set_i32("window_row", {0, 16, -8, 40}),
          "tall: window_row[2] = -8, expected a multiple of 8");
  refused(good().set_i32("window_row", {0, 16, 24, 48}),
          "tall: window_row[3] = 48, expected 40 (the number of rows)");
}

TEST_CASE("tall: every broken offset is named") {
  refused(good().set_i32("window_group_offset", {0, 2, 1, 3}),
          "tall: window_group_offset[2] = 1, expected at least 2 (offsets never decrease)");
  refused(good().set_i32("group_tile_offset", {0, 1, 3, 5}), "tall: group_tile_offset[3] = 5, expected 4");
  refused(good().set_u32("value_offset", {0, 8, 9, 11, 13}), "tall: value_offset[4] = 13, expected 12");
  refused(good().set_u32("value_offset", {1, 8, 9, 11, 12}),
          "tall: value_offset[0] = 1, expected 0 (offsets start at 0)");
}

TEST_CASE("tall: every broken mask is named") {
  refused(good().set_u32("group_mask", {1, 7, 2}),
          "tall: group_mask[1] = 0x7, expected bits of the 2 sub-windows only, and some");
  refused(good().set_u32("group_mask", {1, 3, 0}),
          "tall: group_mask[2] = 0x0, expected bits of the 2 sub-windows only, and some");
  refused(good().set_u32("group_mask", {1, 1, 2}),
          "tall: group_mask[1] = 0x1, expected 2 bits, the count from group_tile_offset");
  refused(good().set_u64("bitmap", {0xFF, 0, 0x03, 0x0100000000000000}),
          "tall: bitmap[1] = 0x0, expected some bits (empty tiles are not stored)");
  refused(good().set_u64("bitmap", {0xFF, 0x06, 0x03, 0x0100000000000000}),
          "tall: bitmap[1] = 0x6, expected 1 bits, the count from value_offset");
  Instance shorter = good();
  shorter.data().rows = 39;
  shorter.set_i32("window_row", {0, 16, 24, 39});
  refused(shorter,
          "tall: bitmap[3] = 0x100000000000000, expected no bits in rows past the end of the matrix");
}

TEST_CASE("tall: every broken column is named") {
  refused(good().set_i32("col_id",
                         {0, 1, 2, 3, 4, 5, 6, 7, 12, 9, 9, 9, 9, 9, 9, 9, 20, 20, 20, 20, 20, 20, 20, 20}),
          "tall: col_id[16] = 20, expected 0 to 19");
  refused(good().set_i32("col_id",
                         {0, 2, 1, 3, 4, 5, 6, 7, 12, 9, 9, 9, 9, 9, 9, 9, 19, 19, 19, 19, 19, 19, 19, 19}),
          "tall: col_id[2] = 1, expected columns sorted by the sub-windows that use them, then by number");
  refused(good().set_i32("col_id",
                         {0, 1, 2, 3, 4, 5, 6, 7, 12, 9, 9, 9, 9, 9, 9, 12, 19, 19, 19, 19, 19, 19, 19, 19}),
          "tall: col_id[15] = 12, expected 9 (padding repeats the last real column)");
  refused(good().set_i32("col_id",
                         {0, 1, 2, 3, 4, 5, 6, 7, 7, 9, 9, 9, 9, 9, 9, 9, 19, 19, 19, 19, 19, 19, 19, 19}),
          "tall: col_id[8] = 7, expected a column that the window does not have yet");
}

TEST_CASE("tall: a column without entries is only allowed as padding of the last sorted group") {
  refused(good().set_u64("bitmap", {0xFF, 0x02, 0x03, 0x0200000000000000}),
          "tall: col_id[16] = 19, expected a column with an entry (only the last of the sorted groups is "
          "padded)");
  refused(
      good()
          .set_u64("bitmap", {0x7F, 0x02, 0x03, 0x0300000000000000})
          .set_u32("value_offset", {0, 7, 8, 10, 12}),
      "tall: col_id[7] = 7, expected a column with an entry (only the last of the sorted groups is padded)");
  refused(good()
              .set_u64("bitmap", {0xFF, 0x02, 0x05, 0x0100000000000000})
              .set_i32("col_id",
                       {0, 1, 2, 3, 4, 5, 6, 7, 12, 9, 9, 9, 9, 9, 9, 9, 19, 19, 19, 19, 19, 19, 19, 19}),
          "tall: col_id[9] = 9, expected columns sorted by the sub-windows that use them, then by number");
}
