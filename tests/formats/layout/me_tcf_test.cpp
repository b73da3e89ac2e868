#include "formats/layout/me_tcf.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

// 18 x 20, so two windows; the second has two rows. Entries (row, column):
// window 0: row 0 has columns 0 to 8 (tile 0: 0..7, tile 1: 8), row 15 has column 3;
// window 1: row 16 has columns 4 and 19, row 17 has column 4.
Instance good() {
  Instance a(formats::kMeTcfLayout, 18, 20, 13);
  a.set_i32("row_window_offset", {0, 2, 3})
      .set_u32("tc_offset", {0, 9, 10, 13})
      .set_u8("tc_local_id", {0, 1, 2, 3, 4, 5, 6, 7, 8 * 15 + 3, 0, 0, 1, 8})
      .set_i32("sparse_a_to_b",
               {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 19, 19, 19, 19, 19, 19})
      .set_f32("values", {1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13});
  return a;
}

}  // namespace

TEST_CASE("me_tcf: a good matrix passes, with and without values") {
  accepted(good());
  accepted(good().remove("values"));
  accepted(Instance(formats::kMeTcfLayout, 0, 0, 0)
               .set_i32("row_window_offset", {0})
               .set_u32("tc_offset", {0})
               .set_u8("tc_local_id", {})
               .set_i32("sparse_a_to_b", {}));
  CHECK(formats::kMeTcfLayout.tc_blocks(good().view()) == 3);
}

TEST_CASE("me_tcf: every broken length is named") {
  refused(good().set_i32("row_window_offset", {0, 3}),
          "me_tcf: row_window_offset has 2 elements, expected 3 (windows of 16 rows, + 1)");
  refused(good().set_u32("tc_offset", {0, 9, 13}),
          "me_tcf: tc_offset has 3 elements, expected 4 (tiles + 1)");
  refused(good().set_u8("tc_local_id", {0}),
          "me_tcf: tc_local_id has 1 elements, expected 13 (one per entry)");
  refused(good().set_i32("sparse_a_to_b", {0}),
          "me_tcf: sparse_a_to_b has 1 elements, expected 8 for each of at most 2147483647 tiles");
  refused(good().set_f32("values", {}), "me_tcf: values has 0 elements, expected 13 (one per entry)");
  Instance huge = good();
  huge.data().nnz = std::int64_t{1} << 32;
  refused(huge, "me_tcf: 4294967296 entries, expected 0 to 4294967295");
}

TEST_CASE("me_tcf: every broken offset is named") {
  refused(good().set_i32("row_window_offset", {1, 2, 3}),
          "me_tcf: row_window_offset[0] = 1, expected 0 (offsets start at 0)");
  refused(good().set_i32("row_window_offset", {0, -5, 3}),
          "me_tcf: row_window_offset[1] = -5, expected at least 0 (offsets never decrease)");
  refused(good().set_i32("row_window_offset", {0, 2, 4}), "me_tcf: row_window_offset[2] = 4, expected 3");
  refused(good().set_u32("tc_offset", {0, 10, 9, 13}),
          "me_tcf: tc_offset[2] = 9, expected at least 10 (offsets never decrease)");
  refused(good().set_u32("tc_offset", {0, 9, 10, 12}), "me_tcf: tc_offset[3] = 12, expected 13");
  refused(good().set_u32("tc_offset", {0, 9, 10, 4000000000}),
          "me_tcf: tc_offset[3] = 4000000000, expected 13");
}

TEST_CASE("me_tcf: every broken local id is named") {
  refused(good().set_u8("tc_local_id", {0, 1, 2, 3, 4, 5, 6, 7, 128, 0, 0, 1, 8}),
          "me_tcf: tc_local_id[8] = 128, expected 8 to 127 (ids of tile 0 ascend)");
  refused(good().set_u8("tc_local_id", {0, 1, 2, 3, 4, 5, 7, 6, 123, 0, 0, 1, 8}),
          "me_tcf: tc_local_id[7] = 6, expected 8 to 127 (ids of tile 0 ascend)");
  refused(good().set_u8("tc_local_id", {0, 1, 2, 3, 4, 5, 6, 7, 123, 0, 0, 1, 16}),
          "me_tcf: tc_local_id[12] = 16, expected 2 to 15 (ids of tile 2 ascend)");  // row 18 does not exist
}

TEST_CASE("me_tcf: every broken column is named") {
  refused(good().set_i32("sparse_a_to_b",
                         {0, 1, 2, 3, 4, 5, 6, 20, 8, 8, 8, 8, 8, 8, 8, 8, 4, 19, 19, 19, 19, 19, 19, 19}),
          "me_tcf: sparse_a_to_b[7] = 20, expected 0 to 19");
  refused(good().set_i32("sparse_a_to_b",
                         {0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 4, 19, 19, 19, 19, 19, 19, 19}),
          "me_tcf: sparse_a_to_b[8] = 7, expected more than 7 (the columns of a window ascend)");
  refused(good().set_i32("sparse_a_to_b",
                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 9, 4, 19, 19, 19, 19, 19, 19, 19}),
          "me_tcf: sparse_a_to_b[15] = 9, expected 8 (padding repeats the last real column)");
  refused(good().set_i32("sparse_a_to_b",
                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, -8, 4, 19, 19, 19, 19, 19, 19, 19}),
          "me_tcf: sparse_a_to_b[15] = -8, expected 0 to 19");
}

TEST_CASE("me_tcf: a column without entries is only allowed as padding of the last tile") {
  refused(
      good().set_u8("tc_local_id", {0, 1, 2, 4, 5, 6, 7, 8, 9, 0, 0, 1, 8}),
      "me_tcf: sparse_a_to_b[3] = 3, expected column 3 of tile 0 to have an entry (only the last tile of a "
      "window is padded)");
  refused(good()
              .set_u8("tc_local_id", {0, 1, 2, 3, 4, 5, 6, 7, 123, 0, 0, 2, 8})
              .set_i32("sparse_a_to_b",
                       {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 19, 19, 19, 19, 19, 19}),
          "me_tcf: sparse_a_to_b[18] = 19, expected column 2 of tile 2 to have no entries, like the "
          "preceding padding");
  refused(good()
              .set_u32("tc_offset", {0, 10, 10, 13})
              .set_u8("tc_local_id", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 8}),
          "me_tcf: sparse_a_to_b[8] = 8, expected column 0 of tile 1 to have an entry (no tile is empty)");
}
