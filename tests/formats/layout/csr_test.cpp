#include "formats/layout/csr.hpp"

#include "instance.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {
// 1 . 2
// . . .
// . 3 4
Instance good() {
  Instance a(formats::kCsrLayout, 3, 3, 4);
  a.set_i64("row_ptr", {0, 2, 2, 4}).set_i32("col_idx", {0, 2, 1, 2}).set_f32("values", {1, 2, 3, 4});
  return a;
}
}  // namespace

TEST_CASE("csr: a good matrix passes, with and without values") {
  accepted(good());
  accepted(good().remove("values"));
  accepted(Instance(formats::kCsrLayout, 0, 0, 0).set_i64("row_ptr", {0}).set_i32("col_idx", {}));
  accepted(Instance(formats::kCsrLayout, 2, 0, 0).set_i64("row_ptr", {0, 0, 0}).set_i32("col_idx", {}));
}

TEST_CASE("csr: every broken length is named") {
  refused(good().set_i64("row_ptr", {0, 2, 4}), "csr: row_ptr has 3 elements, expected 4 (rows + 1)");
  refused(good().set_i32("col_idx", {0, 2, 1}), "csr: col_idx has 3 elements, expected 4 (one per entry)");
  refused(good().set_f32("values", {1}), "csr: values has 1 elements, expected 4 (one per entry)");
  refused(good().set_i32("row_ptr", {0, 2, 2, 4}), "csr: row_ptr has type i32, expected i64");
  refused(good().remove("col_idx"), "csr: col_idx has type none, expected i32");
  Instance shape = good();
  shape.data().rows = -1;
  refused(shape, "csr: -1 rows, expected 0 to 2147483647");
  shape.data().rows = std::int64_t{1} << 62;
  refused(shape, "csr: 4611686018427387904 rows, expected 0 to 2147483647");
}

TEST_CASE("csr: every broken invariant is named with array, index, value and expectation") {
  refused(good().set_i64("row_ptr", {1, 2, 2, 4}), "csr: row_ptr[0] = 1, expected 0 (offsets start at 0)");
  refused(good().set_i64("row_ptr", {0, 2, 1, 4}),
          "csr: row_ptr[2] = 1, expected at least 2 (offsets never decrease)");
  refused(good().set_i64("row_ptr", {0, 2, 2, 5}), "csr: row_ptr[3] = 5, expected 4");
  refused(good().set_i64("row_ptr", {0, 9, 9, 9}), "csr: row_ptr[3] = 9, expected 4");
  refused(good().set_i64("row_ptr", {0, -2, 2, 4}),
          "csr: row_ptr[1] = -2, expected at least 0 (offsets never decrease)");
  refused(good().set_i32("col_idx", {0, 3, 1, 2}),
          "csr: col_idx[1] = 3, expected 1 to 2 (row 0; columns of a row ascend)");
  refused(good().set_i32("col_idx", {-1, 2, 1, 2}),
          "csr: col_idx[0] = -1, expected 0 to 2 (row 0; columns of a row ascend)");
  refused(good().set_i32("col_idx", {0, 2, 1, 1}),
          "csr: col_idx[3] = 1, expected 2 to 2 (row 2; columns of a row ascend)");
}
