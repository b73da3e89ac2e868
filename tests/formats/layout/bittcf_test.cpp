#include "formats/layout/bittcf.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 10 x 20, so two windows; the second has two rows. Entries (row, column):
// window 0: row 0 has columns 0 to 8 (tile 0: 0..7, tile 1: 8), row 7 has column 3;
// window 1: row 8 has columns 4 and 19, row 9 has column 4.
Instance good() {
  Instance a(formats::kBitTcfLayout, 10, 20, 13);
  a.set_i32("row_window_offset", {0, 2, 3})
      .set_u32("tc_offset", {0, 9, 10, 13})
      .set_u64("tc_local_bit", {0x08000000000000FF, 1, 0x0103})
      .set_i32("sparse_a_to_b",
               {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 19, 19, 19, 19, 19, 19})
      .set_f32("values", {1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13});
  return a;
}

}  // namespace

TEST_CASE("bittcf: a good matrix passes, with and without values") {
  accepted(good());
  accepted(good().remove("values"));
  accepted(Instance(formats::kBitTcfLayout, 9, 4, 0)
               .set_i32("row_window_offset", {0, 0, 0})
               .set_u32("tc_offset", {0})
               .set_u64("tc_local_bit", {})
               .set_i32("sparse_a_to_b", {}));
  CHECK(formats::kBitTcfLayout.tc_blocks(good().view()) == 3);
}

TEST_CASE("bittcf: every broken length is named") {
  refused(good().set_i32("row_window_offset", {0, 3}),
          "bittcf: row_window_offset has 2 elements, expected 3 (windows of 8 rows, + 1)");
  refused(good().set_u32("tc_offset", {0, 9, 13}),
          "bittcf: tc_offset has 3 elements, expected 4 (tiles + 1)");
  refused(good().set_u64("tc_local_bit", {1, 2}),
          "bittcf: tc_local_bit has 2 elements, expected 3 (one per 8 columns of sparse_a_to_b)");
  refused(good().set_i32("sparse_a_to_b", {0, 1, 2}),
          "bittcf: sparse_a_to_b has 3 elements, expected 8 for each of at most 2147483647 tiles");
  refused(good().set_f32("values", {1}), "bittcf: values has 1 elements, expected 13 (one per entry)");
  Instance huge = good();
  huge.data().nnz = std::int64_t{1} << 32;
  refused(huge, "bittcf: 4294967296 entries, expected 0 to 4294967295");
}

TEST_CASE("bittcf: every broken offset is named") {
  refused(good().set_i32("row_window_offset", {0, 4, 3}),
          "bittcf: row_window_offset[2] = 3, expected at least 4 (offsets never decrease)");
  refused(good().set_i32("row_window_offset", {0, 2, 1000}),
          "bittcf: row_window_offset[2] = 1000, expected 3");
  refused(good().set_u32("tc_offset", {1, 9, 10, 13}),
          "bittcf: tc_offset[0] = 1, expected 0 (offsets start at 0)");
  refused(good().set_u32("tc_offset", {0, 9, 8, 13}),
          "bittcf: tc_offset[2] = 8, expected at least 9 (offsets never decrease)");
  refused(good().set_u32("tc_offset", {0, 9, 10, 14}), "bittcf: tc_offset[3] = 14, expected 13");
}

TEST_CASE("bittcf: every broken mask is named") {
  refused(good().set_u64("tc_local_bit", {0xFF, 1, 0x0103}),
          "bittcf: tc_local_bit[0] = 0xff, expected 9 bits, the count from tc_offset");
  refused(good().set_u64("tc_local_bit", {0x08000000000000FF, 1, 0x010003}),
          "bittcf: tc_local_bit[2] = 0x10003, expected no bits in rows past the end of the matrix");
}

TEST_CASE("bittcf: every broken column is named") {
  refused(good().set_i32("sparse_a_to_b", {0,  1,  2,  3,  4, 5,  6,  7,  20, 20, 20, 20,
                                           20, 20, 20, 20, 4, 19, 19, 19, 19, 19, 19, 19}),
          "bittcf: sparse_a_to_b[8] = 20, expected 0 to 19");
  refused(good().set_i32("sparse_a_to_b",
                         {0, 2, 1, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 19, 19, 19, 19, 19, 19}),
          "bittcf: sparse_a_to_b[2] = 1, expected more than 2 (the columns of a window ascend)");
  refused(good().set_i32("sparse_a_to_b",
                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 0, 0, 0, 0, 0, 0}),
          "bittcf: sparse_a_to_b[18] = 0, expected 19 (padding repeats the last real column)");
}

TEST_CASE("bittcf: a column without entries is only allowed as padding of the last tile") {
  refused(
      good().set_u64("tc_local_bit", {0x01000000000001F7, 1, 0x0103}).set_u32("tc_offset", {0, 9, 10, 13}),
      "bittcf: sparse_a_to_b[3] = 3, expected column 3 of tile 0 to have an entry (only the last tile of a "
      "window is padded)");
  refused(good()
              .set_u64("tc_local_bit", {0x08000000000000FF, 1, 0x0105})
              .set_i32("sparse_a_to_b",
                       {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 19, 19, 19, 19, 19, 19}),
          "bittcf: sparse_a_to_b[18] = 19, expected column 2 of tile 2 to have no entries, like the "
          "preceding padding");
  refused(
      good().set_u32("tc_offset", {0, 10, 10, 13}).set_u64("tc_local_bit", {0x08000000000001FF, 0, 0x0103}),
      "bittcf: sparse_a_to_b[8] = 8, expected column 0 of tile 1 to have an entry (no tile is empty)");
}
