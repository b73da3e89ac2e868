// What differs from libra_spmm: the order of the columns, and blocks of two tiles.
#include "formats/layout/libra.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 20 x 40. Window 0: one block with columns 9, 4 and 30 in this order, its second tile all padding; row 1 has
// column 3 beside. Window 1: nothing but column 4 in row 9. Window 2: a block with nine columns in row 16.
Instance good() {
  // Row 0: 9, 4, 30; row 1: 9; row 2: 4; row 7: 9.
  Instance a(formats::kLibraSddmmLayout, 20, 40, 17);
  a.set_i32("row_window_offset", {0, 2, 2, 4})
      .set_u32("tc_offset", {0, 6, 6, 14, 15})
      .set_u64("bitmap", {0x0100000000020107, 0, 0xff, 0x01})
      .set_i32("col_id", {9,  4,  30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
                          20, 21, 22, 23, 24, 25, 26, 8,  39, 39, 39, 39, 39, 39, 39, 39})
      .set_f32("values", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
      .set_i32("residual_row_id", {1, 9})
      .set_i64("residual_row_offset", {0, 1, 2})
      .set_i32("residual_col_id", {3, 4})
      .set_f32("residual_values", {16, 17});
  return a;
}

}  // namespace

TEST_CASE("libra_sddmm: columns in any order and tiles of padding pass") {
  accepted(good());
  CHECK(formats::kLibraSddmmLayout.tc_blocks(good().view()) == 4);
}

TEST_CASE("libra_sddmm: blocks are two tiles") {
  refused(good().set_i32("row_window_offset", {0, 1, 2, 4}),
          "libra_sddmm: row_window_offset[1] = 1, expected an even number (a block is two tiles)");
}

TEST_CASE("libra_sddmm: broken columns are named") {
  const auto columns = [](std::size_t i, std::int32_t column) {
    Instance a = good();
    a.data().arrays[3].as<std::int32_t>()[i] = column;
    return a;
  };
  refused(columns(1, 9), "libra_sddmm: col_id[1] = 9, expected a column that window 0 does not have yet");
  refused(columns(24, 20),
          "libra_sddmm: col_id[25] = 39, expected 20 (padding repeats the last real column)");
  refused(columns(0, 40), "libra_sddmm: col_id[0] = 40, expected 0 to 39");
  refused(columns(0, -1), "libra_sddmm: col_id[0] = -1, expected 0 to 39");
  refused(columns(12, 4), "libra_sddmm: col_id[12] = 4, expected 30 (padding repeats the last real column)");
  refused(columns(3, 3), "libra_sddmm: col_id[3] = 3, expected 30 (padding repeats the last real column)");
  refused(columns(0, 3),
          "libra_sddmm: residual_col_id[0] = 3, expected a column that is not in the tiles of window 0");
  accepted(columns(23, 27));
}

TEST_CASE("libra_sddmm: padding stands at the end of a window's last block only") {
  refused(good().set_u32("tc_offset", {0, 0, 6, 14, 15}).set_u64("bitmap", {0, 0x0100000000020107, 0xff, 1}),
          "libra_sddmm: col_id[0] = 9, expected column 0 of tile 0 to have an entry (no block is empty)");
  refused(good().set_u32("tc_offset", {0, 5, 6, 14, 15}).set_u64("bitmap", {0x0100000000020103, 1, 0xff, 1}),
          "libra_sddmm: col_id[2] = 30, expected 4 (padding repeats the last real column)");
  refused(good()
              .set_u32("tc_offset", {0, 5, 6, 14, 15})
              .set_u64("bitmap", {0x0100000000020103, 1, 0xff, 1})
              .set_i32("col_id", {9,  4,  4,  4,  4,  4,  4,  4, 30, 30, 30, 30, 30, 30, 30, 30,
                                  20, 21, 22, 23, 24, 25, 26, 8, 39, 39, 39, 39, 39, 39, 39, 39}),
          "libra_sddmm: col_id[8] = 30, expected column 0 of tile 1 to have no entries, like the preceding "
          "padding");
  refused(good().set_u32("tc_offset", {0, 6, 6, 13, 15}).set_u64("bitmap", {0x0100000000020107, 0, 0x7f, 3}),
          "libra_sddmm: col_id[23] = 8, expected 26 (padding repeats the last real column)");
  refused(good().set_i32("row_window_offset", {0, 4, 4, 4}),
          "libra_sddmm: col_id[3] = 30, expected column 3 of tile 0 to have an entry (only the last block of "
          "a window is padded)");
}
