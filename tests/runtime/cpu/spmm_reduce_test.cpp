// Maxima and minima over rows on the CPU, with small cases by hand; the property runner compares them with
// the references.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/operation/spmm_reduce.hpp"
#include "runtime/plan/plan.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Operation;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A matrix of rows {0, 1, 2}, {} and {1, 3}, with values or all ones.
formats::Csr three_rows(const std::vector<float>& values = {}) {
  formats::Csr a;
  a.rows = 3;
  a.cols = 4;
  a.row_ptr = formats::Buffer<std::int64_t>(4);
  a.col_idx = formats::Buffer<std::int32_t>(5);
  std::ranges::copy(std::array{0, 3, 3, 5}, a.row_ptr.begin());
  std::ranges::copy(std::array{0, 1, 2, 1, 3}, a.col_idx.begin());
  if (values.empty()) return a;
  a.values = formats::Array(DType::f32, 5);
  std::ranges::copy(values, a.values.as<float>().begin());
  return a;
}

/// Results of a reduction of one column.
struct Reduced {
  std::vector<float> c;
  std::vector<std::int32_t> arg;
};

Reduced reduce(const Operation& op, const formats::Csr& a, std::vector<float> b, double alpha = 1) {
  const Formatted formatted = format_matrix(a, "csr");
  const auto plan = runtime::plan_product(op, formatted.matrix(), {.n = 1});
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  Reduced result{std::vector<float>(3, kNan), std::vector<std::int32_t>(3, 99)};
  const runtime::Operands operands{.dense = {{b.data(), 1}, {result.arg.data(), 1}, {result.c.data(), 1}},
                                   .alpha = alpha};
  const Status status = runtime::run(**plan, op, operands);
  REQUIRE_MESSAGE(status.has_value(), status.error().text());
  return result;
}

using Args = std::vector<std::int32_t>;
using Numbers = std::vector<float>;

}  // namespace

TEST_CASE("spmm_max and spmm_min: the result and its column; empty rows are 0 and -1") {
  const formats::Csr a = three_rows();
  const Reduced largest = reduce(runtime::kSpmmMax, a, {-3, -1, -2, -4}, 2);
  CHECK(largest.c == Numbers{-2, 0, -2});
  CHECK(largest.arg == Args{1, -1, 1});
  const Reduced smallest = reduce(runtime::kSpmmMin, a, {3, 1, 2, 4});
  CHECK(smallest.c == Numbers{1, 0, 1});
  CHECK(smallest.arg == Args{1, -1, 1});
}

TEST_CASE("spmm_max: values multiply before the comparison") {
  const Reduced largest = reduce(runtime::kSpmmMax, three_rows({1, -2, 3, 0.5, 0.25}), {1, -4, 2, 6});
  CHECK(largest.c == Numbers{8, 0, 1.5});
  CHECK(largest.arg == Args{1, -1, 3});
}

TEST_CASE("spmm_max and spmm_min: the first of equal products wins") {
  const formats::Csr a = three_rows();
  for (const Operation* op : {&runtime::kSpmmMax, &runtime::kSpmmMin}) {
    CHECK(reduce(*op, a, {5, 5, 5, 5}).arg == Args{0, -1, 1});
    CHECK(reduce(*op, a, {0, -0.0F, 0, -0.0F}).arg == Args{0, -1, 1});
  }
  CHECK(reduce(runtime::kSpmmMax, a, {-kInfinity, -kInfinity, -kInfinity, -kInfinity}).arg == Args{0, -1, 1});
  CHECK(reduce(runtime::kSpmmMin, a, {kInfinity, kInfinity, kInfinity, kInfinity}).arg == Args{0, -1, 1});
}

TEST_CASE("spmm_max and spmm_min: the first NaN wins over numbers and infinities") {
  const formats::Csr a = three_rows();
  for (const Operation* op : {&runtime::kSpmmMax, &runtime::kSpmmMin}) {
    const Reduced found = reduce(*op, a, {kInfinity, kNan, kNan, -kInfinity});
    CHECK(std::isnan(found.c[0]));
    CHECK(std::isnan(found.c[2]));
    CHECK(found.arg == Args{1, -1, 1});
  }
}

TEST_CASE("spmm_max: beta and operands that are missing are refused, arg may be missing") {
  const formats::Csr a = three_rows();
  const Formatted formatted = format_matrix(a, "csr");
  const auto plan = runtime::plan_product(runtime::kSpmmMax, formatted.matrix(), {.n = 1});
  REQUIRE(plan);
  std::vector<float> b(4, 1), c(3, kNan);
  runtime::Operands operands{.dense = {{b.data(), 1}, {nullptr, 1}, {c.data(), 1}}};
  CHECK(runtime::run(**plan, runtime::kSpmmMax, operands));
  CHECK(c == Numbers{1, 0, 1});
  operands.beta = 1;
  CHECK(runtime::run(**plan, runtime::kSpmmMax, operands).error().code == Errc::usage);
  operands.beta = 0;
  operands.dense[runtime::kReduceB].data = nullptr;
  CHECK(runtime::run(**plan, runtime::kSpmmMax, operands).error().code == Errc::usage);
}

TEST_CASE("gradients of spmm_max: G goes to the entries that arg names") {
  const formats::Csr a = three_rows({1, -2, 3, 0.5, 0.25});
  std::vector<float> b = {1, -4, 2, 6}, g = {10, 20, 30}, dvalues(5, kNan);
  std::vector<std::int32_t> arg = {1, -1, 3};
  const Formatted formatted = format_matrix(a, "csr");
  const auto of_values = runtime::plan_product(runtime::kSpmmMaxGradient, formatted.matrix(), {.n = 1});
  REQUIRE(of_values);
  REQUIRE(runtime::run(**of_values, runtime::kSpmmMaxGradient,
                       {.dense = {{g.data(), 1}, {arg.data(), 1}, {b.data(), 1}, {dvalues.data(), 0}}}));
  CHECK(dvalues == Numbers{0, -40, 0, 0, 180});

  formats::Csr t;  // the transpose
  t.rows = 4;
  t.cols = 3;
  t.row_ptr = formats::Buffer<std::int64_t>(5);
  t.col_idx = formats::Buffer<std::int32_t>(5);
  t.values = formats::Array(DType::f32, 5);
  std::ranges::copy(std::array{0, 1, 3, 4, 5}, t.row_ptr.begin());
  std::ranges::copy(std::array{0, 0, 2, 0, 2}, t.col_idx.begin());
  std::ranges::copy(std::array{1.0F, -2.0F, 0.5F, 3.0F, 0.25F}, t.values.as<float>().begin());
  std::vector<float> db(4, kNan);
  const Formatted turned = format_matrix(t, "csr");
  const auto of_b = runtime::plan_product(runtime::kSpmmMaxGradientT, turned.matrix(), {.n = 1});
  REQUIRE(of_b);
  REQUIRE(runtime::run(**of_b, runtime::kSpmmMaxGradientT,
                       {.dense = {{g.data(), 1}, {arg.data(), 1}, {db.data(), 1}}}));
  CHECK(db == Numbers{0, -20, 0, 7.5});
}

TEST_CASE("spmm_max: the same bits for any number of threads") {
  const AllThreads all_threads;
  Random random(3);
  const formats::Csr a = random_matrix(200, 3000, 0.3, DType::f32, random);
  const Formatted formatted = format_matrix(a, "csr");
  const Dense dense(a, 150, DType::f32, random);
  std::vector<std::byte> first;
  for (const int threads : {1, 2, 7}) {
    std::vector<std::byte> c = dense.c_bytes();
    std::vector<std::int32_t> arg(static_cast<std::size_t>(a.rows) * 150);
    const auto plan =
        runtime::plan_product(runtime::kSpmmMax, formatted.matrix(), {.n = 150, .threads = threads});
    REQUIRE(plan);
    const runtime::Operands given = runtime::to_operands(operands(dense, c.data()));
    runtime::Operands all = given;
    all.dense[runtime::kReduceC] = given.dense[runtime::kSpmmC];
    all.dense[runtime::kReduceArg] = {arg.data(), 150};
    all.alpha = 1;
    all.beta = 0;
    REQUIRE(runtime::run(**plan, runtime::kSpmmMax, all));
    const auto* const bytes = reinterpret_cast<const std::byte*>(arg.data());
    c.insert(c.end(), bytes, bytes + arg.size() * sizeof(std::int32_t));
    if (first.empty()) first = c;
    CHECK(c == first);
  }
}
