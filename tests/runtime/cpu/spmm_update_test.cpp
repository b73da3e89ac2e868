// Aggregation with update and its gradients on the CPU against the reference, and finite differences.
#include "runtime/operation/spmm_update.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/update_gradient.hpp"
#include "tests/runtime/random_operation.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Activation;
using runtime::kSpmmUpdate;
using runtime::kUpdateGradient;
using runtime::Operation;
using runtime::PlanOptions;
using runtime::Variant;

namespace {

constexpr runtime::DenseTypes kTypes[] = {{DType::f32},
                                          {DType::f64},
                                          {DType::f16},
                                          {DType::bf16},
                                          {DType::f16, DType::f32},
                                          {DType::bf16, DType::f32}};

PlanOptions options_of(const OperationProblem& p, int threads = 2) {
  PlanOptions options;
  options.n = p.n;
  options.dense = p.types.operands;
  options.result = p.types.result;
  options.variant = p.variant;
  options.threads = threads;
  return options;
}

std::shared_ptr<runtime::ProductPlan> planned(const OperationProblem& p, const Formatted& formatted,
                                              const PlanOptions& options) {
  auto plan = runtime::plan_product(p.op, formatted.matrix(), options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  return *plan;
}

/// Runs with and without the operands that may be left out; with every instruction set that is there.
void check(const OperationProblem& p, Random& random, bool permuted = false) {
  CAPTURE(p.op.name);
  CAPTURE(p.a.rows);
  CAPTURE(p.n);
  CAPTURE(p.variant.m);
  CAPTURE(name_of(p.types.operands));
  CAPTURE(name_of(p.types.result));
  const Formatted formatted =
      format_matrix(p.a, "csr", permuted ? random_order(p.a.rows, random) : std::vector<std::int32_t>{});
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (kernel.op != &p.op || kernel.device != runtime::Device::cpu || !available(kernel)) continue;
    CAPTURE(kernel.name);
    PlanOptions options = options_of(p);
    options.kernel = kernel.name;
    const auto plan = planned(p, formatted, options);
    for (const bool all : {true, false}) {
      RandomOperands operands(p, random);
      for (std::size_t i = 0; i < p.op.operands.size() && !all; ++i)
        if (p.op.operands[i].optional && !(i == runtime::kGradientC && &p.op == &kUpdateGradient))
          operands.leave_out(static_cast<int>(i));
      const Status status = runtime::run(*plan, p.op, operands.operands());
      REQUIRE_MESSAGE(status.has_value(), status.error().message);
      CHECK(operands.error(p.a.values.dtype()) <= operands.tolerated());
      CHECK(operands.gaps_untouched());
    }
  }
}

constexpr const Operation* kBoth[] = {&kSpmmUpdate, &kUpdateGradient};

double skewed(std::int64_t r, std::int64_t) { return r % 4 == 1 ? 0 : r == 7 ? 1 : 0.1; }

}  // namespace

TEST_CASE("spmm_update: any n and m, weights either way round, empty rows, a dense row") {
  Random random(1);
  const formats::Csr a = random_matrix(40, 60, DType::f32, random, skewed);
  for (const Operation* op : kBoth)
    for (const std::int64_t n : {1, 3, 17, 47, 64, 100, 130, 300})
      for (const std::int64_t m : {1, 3, 17, 47, 64, 100, 130, 300})
        check({*op, a, n, DType::f32, {.m = m, .transposed_weights = n % 2 == 1}, m % 3, 1.5}, random,
              m == 17);
  for (const Operation* op : kBoth)
    check({*op, a, 1100, DType::f32, {.m = 140, .activation = Activation::relu}}, random);
}

TEST_CASE("spmm_update: every type of operands, results and values, with relu, scaled, several heads") {
  Random random(2);
  for (const Operation* op : kBoth)
    for (const DType values : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64})
      for (const runtime::DenseTypes types : kTypes) {
        const formats::Csr a = random_matrix(50, 40, values, random, skewed);
        for (const bool turned : {false, true})
          check({*op,
                 a,
                 33,
                 types,
                 {.m = 20, .heads = 3, .activation = Activation::relu, .transposed_weights = turned},
                 3,
                 -0.5},
                random, turned);
      }
}

TEST_CASE("spmm_update: matrices without rows, columns or entries; gradients of nothing are 0") {
  Random random(3);
  for (const auto& [rows, cols] : {std::pair{0, 9}, {9, 0}, {5, 5}, {0, 0}, {1, 1}})
    for (const Operation* op : kBoth) {
      const formats::Csr a = random_matrix(rows, cols, 0, DType::f32, random);
      check({*op, a, 5, DType::f32, {.m = 4}}, random);
    }
}

TEST_CASE("spmm_update: the same bits for any number of threads") {
  Random random(4);
  const formats::Csr a = random_matrix(300, 900, DType::f32, random, skewed);
  const Formatted formatted = format_matrix(a, "csr");
  for (const Operation* op : kBoth) {
    const OperationProblem p{*op, a, 200, DType::f32, {.m = 96}};
    RandomOperands operands(p, random);
    std::vector<std::vector<std::byte>> results;
    for (const int threads : {1, 2, 3, 8}) {
      REQUIRE(runtime::run(*planned(p, formatted, options_of(p, threads)), *op, operands.operands()));
      const auto last = static_cast<int>(op->operands.size()) - 1;
      const auto* const bytes = reinterpret_cast<const std::byte*>(operands.array(last).data());
      results.emplace_back(bytes, bytes + operands.bytes(static_cast<std::size_t>(last)));
    }
    for (const auto& result : results) CHECK(result == results.front());
  }
}

TEST_CASE("spmm_update: NaN in a row of B reaches the rows that use it, in W its column; relu keeps it") {
  Random random(5);
  const formats::Csr a = random_matrix(60, 30, 0.1, DType::f32, random);
  const OperationProblem p{kSpmmUpdate, a, 19, DType::f32, {.m = 21, .activation = Activation::relu}};
  RandomOperands operands(p, random);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  operands.set(runtime::kUpdateB, 4, 3, kNan);
  operands.set(runtime::kUpdateW, 5, 2, kNan);
  const Formatted formatted = format_matrix(a, "csr");
  REQUIRE(runtime::run(*planned(p, formatted, options_of(p)), p.op, operands.operands()));
  for (std::int64_t r = 0; r < a.rows; ++r) {
    bool uses = false;
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) uses = uses || a.col_idx[k] == 4;
    for (std::int64_t j = 0; j < 21; ++j)
      CHECK(std::isnan(operands.at(runtime::kUpdateC, r, j)) == (uses || j == 2));
  }
}

namespace {

/// Sum of C times fixed factors: its derivatives by B, W and bias are what gradients give for dC = factors.
struct Layer {
  Random random{6};
  formats::Csr a = random_matrix(23, 19, 0.2, DType::f64, random);
  OperationProblem p{kSpmmUpdate, a, 7, DType::f64, {.m = 5, .activation = Activation::relu}, 0, 0.7};
  RandomOperands operands{p, random};
  formats::Array factors = random_values(23 * 5, DType::f64, random);
  Formatted formatted = format_matrix(a, "csr");
  std::shared_ptr<runtime::ProductPlan> plan = planned(p, formatted, options_of(p));

  double loss() {
    REQUIRE(runtime::run(*plan, kSpmmUpdate, operands.operands()));
    double sum = 0;
    for (std::int64_t r = 0; r < 23; ++r)
      for (std::int64_t j = 0; j < 5; ++j)
        sum +=
            operands.at(runtime::kUpdateC, r, j) * factors.as<double>()[static_cast<std::size_t>(r * 5 + j)];
    return sum;
  }
  double difference(int operand, std::int64_t r, std::int64_t c) {
    constexpr double kStep = 1e-6;
    const double x = operands.at(operand, r, c);
    operands.set(operand, r, c, x + kStep);
    const double above = loss();
    operands.set(operand, r, c, x - kStep);
    const double below = loss();
    operands.set(operand, r, c, x);
    return (above - below) / (2 * kStep);
  }
};

}  // namespace

TEST_CASE("update_gradient: finite differences of W, bias and, by the transposed plan, B") {
  Layer layer;
  layer.loss();
  const OperationProblem p{kUpdateGradient, layer.a, 7, DType::f64, layer.p.variant, 0, 0.7};
  RandomOperands gradient(p, layer.random);
  runtime::Operands operands = gradient.operands();
  operands.dense[runtime::kGradientZ] = layer.operands.operands().dense[runtime::kUpdateZ];
  operands.dense[runtime::kGradientDc] = {layer.factors.data(), 5};
  operands.dense[runtime::kGradientC] = layer.operands.operands().dense[runtime::kUpdateC];
  REQUIRE(runtime::run(*planned(p, layer.formatted, options_of(p)), kUpdateGradient, operands));

  const formats::Csr turned = formats::transpose(layer.a.view());
  const OperationProblem back{kSpmmUpdate, turned, 5, DType::f64, {.m = 7, .transposed_weights = true},
                              0,           0.7};
  RandomOperands of_b(back, layer.random);
  runtime::Operands to_b = of_b.operands();
  to_b.dense[runtime::kUpdateB] = operands.dense[runtime::kGradientG];
  to_b.dense[runtime::kUpdateW] = layer.operands.operands().dense[runtime::kUpdateW];
  to_b.dense[runtime::kUpdateBias].data = nullptr;
  REQUIRE(runtime::run(*planned(back, format_matrix(turned, "csr"), options_of(back)), kSpmmUpdate, to_b));

  const auto near = [](double found, double expected) { return std::fabs(found - expected) < 1e-6; };
  for (std::int64_t j = 0; j < 5; ++j) {
    CHECK(near(gradient.at(runtime::kGradientDbias, 0, j), layer.difference(runtime::kUpdateBias, 0, j)));
    for (std::int64_t i = 0; i < 7; ++i)
      CHECK(near(gradient.at(runtime::kGradientDw, i, j), layer.difference(runtime::kUpdateW, i, j)));
  }
  for (std::int64_t r = 0; r < 19; ++r)
    for (std::int64_t i = 0; i < 7; ++i)
      CHECK(near(of_b.at(runtime::kUpdateC, r, i), layer.difference(runtime::kUpdateB, r, i)));
}

TEST_CASE("spmm_update: bad operands are refused by name before anything runs") {
  Random random(7);
  const formats::Csr a = random_matrix(20, 30, 0.3, DType::f32, random);
  const Formatted formatted = format_matrix(a, "csr");
  const auto refused = [&](const OperationProblem& p, auto change, std::string_view text) {
    RandomOperands operands(p, random);
    runtime::Operands bad = operands.operands();
    change(bad);
    const Status status = runtime::run(*planned(p, formatted, options_of(p)), p.op, bad);
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().code == Errc::usage);
    CHECK_MESSAGE(status.error().message.find(text) != std::string::npos, status.error().message);
    CHECK(operands.gaps_untouched());
  };
  const OperationProblem update{kSpmmUpdate, a, 8, DType::f32, {.m = 5}, 1};
  refused(
      update, [](auto& o) { o.dense[runtime::kUpdateW].data = nullptr; }, "spmm_update: W is null");
  refused(
      update, [](auto& o) { o.dense[runtime::kUpdateW].ld = 4; }, "dimension of W, 4, is less than its 5");
  refused(
      update, [](auto& o) { o.beta = 1; }, "beta must be 0");
  refused(
      update, [](auto& o) { o.alpha = NAN; }, "alpha and slope must be finite");
  const OperationProblem turned{kSpmmUpdate, a, 8, DType::f32, {.m = 5, .transposed_weights = true}, 1};
  refused(
      turned, [](auto& o) { o.dense[runtime::kUpdateW].ld = 5; }, "dimension of W, 5, is less than its 8");
  const OperationProblem gradient{
      kUpdateGradient, a, 8, DType::f32, {.m = 5, .activation = Activation::relu}};
  refused(
      gradient, [](auto& o) { o.dense[runtime::kGradientC].data = nullptr; },
      "update_gradient: C is null; pass the output of the layer");
  refused(
      gradient, [](auto& o) { o.dense[runtime::kGradientDw].data = nullptr; }, "dW is null");
}
