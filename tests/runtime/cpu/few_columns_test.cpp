// Products of csr with few columns: kernels whose last step of each row is masked, long rows in pieces, and
// the choice of steps.
#include <doctest/doctest.h>

#include <cstring>

#include "formats/core/half.hpp"
#include "runtime/cpu/long_rows.hpp"
#include "runtime/cpu/row_steps.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Kernel;
using runtime::PlanOptions;

namespace {

/// A matrix whose rows have these lengths, each with columns that follow each other up to some place and are
/// scattered behind it.
formats::Csr matrix_of_lengths(const std::vector<std::int64_t>& lengths, std::int64_t cols, DType dtype,
                               Random& random, std::int64_t run) {
  formats::Csr a;
  a.rows = std::ssize(lengths);
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(a.rows + 1);
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    a.row_ptr[r + 1] = a.row_ptr[r] + lengths[static_cast<std::size_t>(r)];
  a.col_idx = formats::Buffer<std::int32_t>(a.row_ptr[a.rows]);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const std::int64_t count = lengths[static_cast<std::size_t>(r)], together = std::min(run, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t spread = count > together ? (cols - together) / (count - together) : 1;
      const std::int64_t col = i < together ? i : together + (i - together) * spread;
      a.col_idx[a.row_ptr[r] + i] = static_cast<std::int32_t>(col);
    }
  }
  a.values = random_values(a.nnz(), dtype, random);
  return a;
}

std::vector<std::byte> product(const formats::Csr& a, const Kernel& kernel, const Dense& dense,
                               int threads = 1, double alpha = 1, double beta = 0, std::int64_t planned = 0) {
  const Formatted formatted = format_matrix(a, "csr");
  const PlanOptions options{.n = std::max(planned, dense.n),
                            .dense = dense.types.operands,
                            .result = dense.types.result,
                            .kernel = kernel.name,
                            .threads = threads};
  const auto plan = runtime::plan_spmm(formatted.matrix(), options);
  REQUIRE(plan);
  std::vector<std::byte> c = dense.c_bytes();
  runtime::SpmmOperands given = operands(dense, c.data(), alpha, beta);
  given.n = dense.n;
  REQUIRE(runtime::run(**plan, given));
  return c;
}

void check_product(const formats::Csr& a, const Kernel& kernel, const Dense& dense, double alpha,
                   double beta) {
  std::vector<std::byte> c = product(a, kernel, dense, 1, alpha, beta);
  CHECK(runtime::relative_error(a.view(), dense.n, dense.types, operands(dense, c.data(), alpha, beta),
                                dense.c_bytes().data()) <= runtime::tolerated_error(a.view(), dense.types));
}

const std::vector<std::int64_t> kShort = {0, 1, 2, 3, 4, 5, 0, 0, 4, 4, 1, 3, 2, 0, 1},
                                kMedium = {8, 9, 16, 17, 0, 1, 7, 24, 31, 12, 10, 33, 15, 8, 9, 20, 2},
                                kLong = {70, 64, 200, 0, 65, 71, 90, 128, 129, 3, 255};

}  // namespace

TEST_CASE("few columns: every kernel agrees with the reference, whatever the lengths of rows are") {
  Random random(71);
  const std::pair<DType, runtime::DenseTypes> pairs[] = {
      {DType::f32, DType::f32},   {DType::f64, DType::f64},   {DType::f16, DType::f32},
      {DType::bf16, DType::bf16}, {DType::none, DType::f64},  {DType::none, DType::f16},
      {DType::f16, DType::f16},   {DType::none, DType::f32},  {DType::f16, {DType::f16, DType::f32}},
      {DType::bf16, DType::f32},  {DType::none, DType::bf16}, {DType::bf16, {DType::bf16, DType::f32}}};
  for (const auto& lengths : {kShort, kMedium, kLong})
    for (const std::int64_t run : {0, 300})
      for (const auto& pair : pairs) {
        const formats::Csr a = matrix_of_lengths(lengths, 300, pair.first, random, run);
        for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 12, 16})
          for (const std::int64_t pad : {0, 3}) {
            CAPTURE(name_of(pair.first));
            CAPTURE(name_of(pair.second.operands));
            CAPTURE(n);
            CAPTURE(pad);
            const Dense dense(a, n, pair.second, random, pad);
            for (const Kernel& kernel : kernels_of("csr")) {
              CAPTURE(kernel.name);
              check_product(a, kernel, dense, 1, 0);
              check_product(a, kernel, dense, -0.5, 2);
            }
          }
      }
}

TEST_CASE("few columns: gaps between rows of B and C, and the order of rows, do not change bits") {
  Random random(73);
  for (const auto& lengths : {kShort, kMedium, kLong}) {
    const formats::Csr a = matrix_of_lengths(lengths, 300, DType::f32, random, 90);
    for (const std::int64_t n : {1, 2, 4, 8}) {
      const Dense packed(a, n, DType::f32, random);
      Dense apart(a, n, DType::f32, random, 5);
      for (std::int64_t r = 0; r < a.cols; ++r)
        std::memcpy(apart.b.as<float>().data() + r * apart.ldb, packed.b.as<float>().data() + r * n,
                    static_cast<std::size_t>(n) * sizeof(float));
      for (const Kernel& kernel : kernels_of("csr")) {
        CAPTURE(kernel.name);
        const std::vector<std::byte> expected = product(a, kernel, packed), c = product(a, kernel, apart);
        for (std::int64_t r = 0; r < a.rows; ++r)
          CHECK(std::memcmp(c.data() + r * apart.ldc * 4, expected.data() + r * n * 4,
                            static_cast<std::size_t>(n) * 4) == 0);
      }
    }
  }
}

TEST_CASE(
    "long rows: pieces give the reference's result, the same bits for any threads and planned columns") {
  const test::AllThreads all_threads;
  Random random(74);
  for (const DType type : {DType::f32, DType::f64, DType::f16}) {
    const formats::Csr a = matrix_of_lengths({2, 40000, 0, 17000, 5, 30, 16384, 1}, 50000, type, random, 0);
    const auto pieces = runtime::split_long_rows(a.view());
    REQUIRE(!pieces.empty());
    for (const std::int64_t n : {1, 3, 8, 16}) {
      CAPTURE(n);
      const Dense dense(a, n, type, random);
      for (const Kernel& kernel : kernels_of("csr")) {
        CAPTURE(kernel.name);
        check_product(a, kernel, dense, 0.5, -1);
        const std::vector<std::byte> one = product(a, kernel, dense);
        for (const int threads : {2, 3, 5}) CHECK(product(a, kernel, dense, threads) == one);
        CHECK(product(a, kernel, dense, 2, 1, 0, 200) == one);
      }
    }
  }
}

TEST_CASE("long rows: pieces cover each long row once, and no other; chunks have all others") {
  Random random(75);
  const formats::Csr a = matrix_of_lengths({3, 20000, 16383, 16384, 9, 40000}, 60000, DType::none, random, 0);
  const auto pieces = runtime::split_long_rows(a.view());
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const runtime::RowPiece& piece = pieces[i];
    const bool is_first = rows.empty() || rows.back() != piece.row;
    CHECK(piece.entries[0] == (is_first ? a.row_ptr[piece.row] : pieces[i - 1].entries[1]));
    CHECK(piece.entries[0] < piece.entries[1]);
    if (i + 1 == pieces.size() || pieces[i + 1].row != piece.row)
      CHECK(piece.entries[1] == a.row_ptr[piece.row + 1]);
    if (is_first) rows.push_back(piece.row);
  }
  CHECK(rows == std::vector<std::int64_t>{1, 3, 5});
  const auto rest = runtime::without_rows({{0, 2, 0, 1}, {2, 6, 0, 1}}, pieces);
  std::vector<std::int64_t> others;
  for (const runtime::Chunk& chunk : rest)
    for (std::int64_t r = chunk.first; r < chunk.last; ++r) others.push_back(r);
  CHECK(others == std::vector<std::int64_t>{0, 2, 4});
}

TEST_CASE("long rows: a matrix has fewer pieces than sums have room for") {
  Random random(76);
  const std::vector<std::int64_t> equal(127, 16384);
  const formats::Csr a = matrix_of_lengths(equal, 16384, DType::none, random, 16384);
  CHECK(std::ssize(runtime::split_long_rows(a.view())) < runtime::kMaxPieces);
}

TEST_CASE(
    "row steps: small for rows of a few nonzeros, large for long and irregular rows, runs where there are") {
  Random random(77);
  const auto steps = [&](const std::vector<std::int64_t>& lengths, std::int64_t run) {
    return runtime::choose_row_steps(matrix_of_lengths(lengths, 400, DType::none, random, run).view());
  };
  CHECK(steps(std::vector<std::int64_t>(500, 3), 0).small);
  const runtime::RowSteps long_rows = steps(std::vector<std::int64_t>(500, 200), 0);
  CHECK_FALSE(long_rows.small);
  CHECK(long_rows.are_many);
  CHECK_FALSE(long_rows.runs);
  CHECK(steps(std::vector<std::int64_t>(500, 200), 200).runs);
  std::vector<std::int64_t> irregular;
  for (int i = 0; i < 60000; ++i) irregular.push_back(static_cast<std::int64_t>(random() % 9));
  CHECK_FALSE(steps(irregular, 0).small);
  CHECK_FALSE(runtime::choose_row_steps({}).small);
}
