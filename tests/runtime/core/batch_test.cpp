// Matrices as one: where they stand, and what comes of them in host memory.
#include "runtime/core/batch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "formats/layout/invariants.hpp"
#include "runtime/handle/host_batch.hpp"
#include "tests/runtime/joined_matrix.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Arrangement;
using runtime::BatchMember;

namespace {

/// The error of sizes that make no batch.
Error refused(const std::vector<BatchMember>& members, Arrangement arrangement) {
  const auto layout = runtime::arrange(members, arrangement);
  REQUIRE(!layout);
  return layout.error();
}

std::vector<formats::CsrView> views_of(const std::vector<formats::Csr>& parts) {
  std::vector<formats::CsrView> views;
  for (const formats::Csr& part : parts) views.push_back(part.view());
  return views;
}

}  // namespace

TEST_CASE("batch: where matrices begin") {
  const std::vector<BatchMember> members = {
      {2, 3, 4, DType::f32}, {0, 3, 0, DType::f32}, {5, 3, 1, DType::f32}};
  const auto diagonal = runtime::arrange(members, Arrangement::block_diagonal);
  REQUIRE(diagonal);
  CHECK(diagonal->whole.rows == 7);
  CHECK(diagonal->whole.cols == 9);
  CHECK(diagonal->whole.nnz == 5);
  CHECK(diagonal->whole.values == DType::f32);
  REQUIRE(diagonal->begin.size() == 3);
  CHECK(diagonal->begin[2].row == 2);
  CHECK(diagonal->begin[2].col == 6);
  CHECK(diagonal->begin[2].entry == 4);
  const auto stacked = runtime::arrange(members, Arrangement::stacked);
  REQUIRE(stacked);
  CHECK(stacked->whole.rows == 7);
  CHECK(stacked->whole.cols == 3);
  CHECK(stacked->begin[2].row == 2);
  CHECK(stacked->begin[2].col == 0);
}

TEST_CASE("batch: sizes as large as ids are taken, larger ones refused by the name of the matrix") {
  constexpr std::int64_t kMax = formats::kMaxId;
  for (const Arrangement arrangement : {Arrangement::block_diagonal, Arrangement::stacked}) {
    const std::int64_t cols = arrangement == Arrangement::stacked ? kMax : 1;
    CHECK(runtime::arrange(std::vector<BatchMember>{{kMax - 1, cols, 0}, {1, cols, 0}}, arrangement));
    const Error rows = refused({{kMax - 1, cols, 0}, {1, cols, 0}, {1, cols, 0}}, arrangement);
    CHECK(rows.code == Errc::unsupported);
    CHECK(rows.message == "matrix 2 of the batch: 1 rows after 2147483647; a batch has at most 2147483647");
  }
  const Error cols = refused({{1, kMax, 0}, {1, kMax, 0}}, Arrangement::block_diagonal);
  CHECK(cols.code == Errc::unsupported);
  CHECK(cols.message ==
        "matrix 1 of the batch: 2147483647 columns after 2147483647; a batch has at most 2147483647");
  constexpr std::int64_t kMany = std::int64_t{1} << 60;
  CHECK(runtime::arrange(std::vector<BatchMember>{{1, 1, kMany}}, Arrangement::stacked));
  const Error entries = refused({{1, 1, kMany}, {1, 1, 1}}, Arrangement::stacked);
  CHECK(entries.code == Errc::unsupported);
  CHECK(entries.message.starts_with("matrix 1 of the batch: 1 entries after 1152921504606846976;"));
  const Error overflow =
      refused({{1, 1, 1}, {1, 1, std::numeric_limits<std::int64_t>::max()}}, Arrangement::block_diagonal);
  CHECK(overflow.code == Errc::unsupported);
}

TEST_CASE("batch: matrices that do not go together are refused by name") {
  for (const Arrangement arrangement : {Arrangement::block_diagonal, Arrangement::stacked}) {
    CHECK(refused({}, arrangement).code == Errc::usage);
    const Error values =
        refused({{1, 1, 1, DType::f32}, {1, 1, 1, DType::f32}, {1, 1, 1, DType::f64}}, arrangement);
    CHECK(values.code == Errc::usage);
    CHECK(values.message == "matrix 2 of the batch: values of type f64, but the first has f32");
    CHECK(refused({{1, 1, 1, DType::f32}, {1, 1, 1, DType::none}}, arrangement).code == Errc::usage);
  }
  const Error cols = refused({{4, 3, 0}, {4, 3, 0}, {4, 2, 0}}, Arrangement::stacked);
  CHECK(cols.code == Errc::usage);
  CHECK(cols.message ==
        "matrix 2 of the batch: 2 columns, the first has 3; stacked matrices must have equal columns");
}

TEST_CASE("batch: matrices of every shape and type become one in host memory") {
  Random random(31);
  for (const DType dtype : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const Arrangement arrangement : {Arrangement::block_diagonal, Arrangement::stacked})
      for (const std::vector<formats::Csr>& parts : batches_of_parts(dtype, arrangement, random)) {
        CAPTURE(name_of(dtype));
        CAPTURE(parts.size());
        const auto joined = runtime::join_on_host(views_of(parts), arrangement, false);
        REQUIRE_MESSAGE(joined.has_value(), joined.error().text());
        CHECK(formats::check_csr(joined->view));
        CHECK(identical(joined->view, joined_by_entries(parts, arrangement).view()));
      }
}

TEST_CASE("batch: a matrix that is none is refused by name, unless it is trusted") {
  Random random(32);
  for (const Arrangement arrangement : {Arrangement::block_diagonal, Arrangement::stacked}) {
    std::vector<formats::Csr> parts;
    for (int i = 0; i < 4; ++i) parts.push_back(random_matrix(5, 6, 0.5, DType::f32, random));
    parts[2].col_idx[0] = 6;
    const auto joined = runtime::join_on_host(views_of(parts), arrangement, false);
    REQUIRE(!joined);
    CHECK(joined.error().code == Errc::bad_input);
    CHECK(joined.error().message.starts_with("matrix 2 of the batch: csr: col_idx[0] = 6, expected 0 to 5"));
    CHECK(runtime::join_on_host(views_of(parts), arrangement, true));
  }
}
