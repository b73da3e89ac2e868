#include "tools/measure/reference_cache.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "tests/runtime/head_problem.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

constexpr std::size_t kPlenty = 1 << 24;

/// A problem of an operation, with results as the reference would round them.
struct Solved {
  test::Random random{7};
  formats::Csr a = test::random_matrix(333, 90, 0.1, DType::f32, random);
  test::HeadProblem problem;

  explicit Solved(const runtime::Operation& op, const runtime::DenseTypes& types = DType::f32)
      : problem(op, a, {}, 12, types, {}, random) {
    problem.run_reference();
  }

  runtime::Operands from(std::int64_t row) {
    runtime::Operands operands = problem.operands();
    for (std::size_t i = 0; i < problem.op().operands.size(); ++i) {
      const runtime::OperandSpec& spec = problem.op().operands[i];
      if (spec.extent == runtime::Extent::rows && operands.dense[i].data != nullptr)
        operands.dense[i].data =
            static_cast<std::byte*>(operands.dense[i].data) +
            row * operands.dense[i].ld * static_cast<std::int64_t>(size_of(type_of(spec, problem.types())));
    }
    return operands;
  }
  double error(ReferenceCache& cache, CheckedRows rows = CheckedRows::all,
               std::span<const std::int64_t> packed = {}) {
    return cache.error(
        problem.op(), problem.product(packed), [this](std::int64_t row) { return from(row); }, rows, nullptr);
  }
  [[nodiscard]] std::size_t result() const { return problem.op().operands.size() - 1; }
};

}  // namespace

TEST_CASE("reference cache: says what the reference alone says, the first time and later, kept or not") {
  for (const runtime::Operation* op : runtime::operations())
    for (const runtime::DenseTypes& types :
         {runtime::DenseTypes(DType::f32), runtime::DenseTypes(DType::f16)})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{60000}, kPlenty}) {
        CAPTURE(op->name);
        CAPTURE(bytes);
        Solved solved(*op, types);
        ReferenceCache cache(bytes);
        const double sound = solved.problem.error();
        CHECK(solved.error(cache) == sound);
        CHECK(solved.error(cache) == sound);
        CHECK(sound <= solved.problem.tolerance());
        // Any wrong number is seen: the first, the last, and one in the middle.
        const runtime::OperandShape shape = shape_of(op->result(), solved.problem.sizes());
        const std::int64_t last = shape.rows * shape.width - 1;
        for (const std::int64_t at : {std::int64_t{0}, last / 2, last}) {
          const double right = solved.problem.number(solved.result(), at);
          solved.problem.set(solved.result(), at, std::nan(""));
          CHECK(solved.error(cache) > solved.problem.tolerance());
          CHECK(solved.error(cache) == solved.problem.error());
          solved.problem.set(solved.result(), at, right);
        }
        CHECK(solved.error(cache) == sound);
      }
}

TEST_CASE("reference cache: what is kept serves lists in any order") {
  Solved solved(*runtime::find_operation("sddmm"));
  ReferenceCache cache(kPlenty);
  const double sound = solved.error(cache);
  formats::Array& list = solved.problem.array(solved.result());
  std::vector<std::int64_t> turned(static_cast<std::size_t>(solved.a.nnz()));
  std::iota(turned.rbegin(), turned.rend(), 0);
  auto* const numbers = static_cast<float*>(list.data());
  std::reverse(numbers, numbers + solved.a.nnz());
  CHECK(solved.error(cache, CheckedRows::all, turned) == sound);
  CHECK(solved.error(cache) > 1e-3);
}

TEST_CASE("reference cache: it is used, and forgotten when told to or when values have another type") {
  Solved solved(*runtime::find_operation("spmm"));
  ReferenceCache cache(kPlenty);
  const double sound = solved.error(cache);
  solved.problem.scale(0, 2);  // another B, which the cache was not told of
  CHECK(solved.error(cache) == sound);
  cache.clear();
  CHECK(solved.error(cache) > 0.1);
  solved.problem.scale(0, 0.5);
  CHECK(solved.error(cache) > 0.1);
  runtime::ReferenceProduct wide = solved.problem.product();
  const formats::Array values = formats::convert_values(wide.a.values, DType::f64);
  wide.a.values = values.view();
  CHECK(cache.error(
            solved.problem.op(), wide, [&](std::int64_t row) { return solved.from(row); }, CheckedRows::all,
            nullptr) == sound);
}

TEST_CASE("reference cache: a matrix without rows is right") {
  Solved solved(*runtime::find_operation("spmm"));
  ReferenceCache cache(kPlenty);
  runtime::ReferenceProduct none = solved.problem.product();
  none.a.rows = 0;
  none.a.row_ptr = none.a.row_ptr.first(1);
  CHECK(cache.error(
            solved.problem.op(), none, [&](std::int64_t row) { return solved.from(row); }, CheckedRows::all,
            nullptr) == 0);
}
