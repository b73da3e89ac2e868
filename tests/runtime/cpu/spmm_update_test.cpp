// Aggregation with update and its gradients on the CPU against the reference, and finite differences.
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/layer_gradient.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/update_gradient.hpp"
#include "tests/runtime/random_operation.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Activation;
using runtime::kLayerGradient;
using runtime::kSpmmUpdate;
using runtime::kUpdateGradient;
using runtime::Operation;
using runtime::PlanOptions;
using runtime::Variant;

namespace {

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

}  // namespace

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

/// Returns the central difference of `loss` by an element of an operand.
template <class Loss>
double central_difference(RandomOperands& operands, int operand, std::int64_t r, std::int64_t c,
                          const Loss& loss) {
  constexpr double kStep = 1e-6;
  const double x = operands.at(operand, r, c);
  operands.set(operand, r, c, x + kStep);
  const double above = loss();
  operands.set(operand, r, c, x - kStep);
  const double below = loss();
  operands.set(operand, r, c, x);
  return (above - below) / (2 * kStep);
}

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
    return central_difference(operands, operand, r, c, [&] { return loss(); });
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

TEST_CASE("layer_gradient: finite differences of X and W of Y = A^T (X W), for wide G, too") {
  constexpr double kAlpha = 0.7;
  for (const std::int64_t m : {5, 300}) {
    Random random(8);
    const formats::Csr a = random_matrix(23, 19, 0.2, DType::f64, random);
    const OperationProblem p{kLayerGradient, a, 18, DType::f64, {.m = m}, 0, kAlpha};
    RandomOperands operands(p, random);
    REQUIRE(runtime::run(*planned(p, format_matrix(a, "csr"), options_of(p)), kLayerGradient,
                         operands.operands()));
    const auto at = [&](int operand, std::int64_t r, std::int64_t c) { return operands.at(operand, r, c); };
    // The sum of G times alpha A^T (X W).
    const auto loss = [&] {
      double sum = 0;
      for (std::int64_t r = 0; r < a.rows; ++r)
        for (std::int64_t j = 0; j < m; ++j) {
          double y = 0, g = 0;
          for (std::int64_t i = 0; i < p.n; ++i) y += at(runtime::kLayerX, r, i) * at(runtime::kLayerW, i, j);
          for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
            g += a.values.as<double>()[static_cast<std::size_t>(k)] * at(runtime::kLayerG, a.col_idx[k], j);
          sum += kAlpha * y * g;
        }
      return sum;
    };
    const auto difference = [&](int operand, std::int64_t r, std::int64_t c) {
      return central_difference(operands, operand, r, c, loss);
    };
    const auto near = [](double found, double expected) { return std::fabs(found - expected) < 1e-5; };
    for (const std::int64_t i : {0, 7, 17}) {
      CAPTURE(i);
      CAPTURE(m);
      for (const std::int64_t r : {0, 5, 22})
        CHECK(near(at(runtime::kLayerDx, r, i), difference(runtime::kLayerX, r, i)));
      for (const std::int64_t j : {std::int64_t{0}, m - 1})
        CHECK(near(at(runtime::kLayerDw, i, j), difference(runtime::kLayerW, i, j)));
    }
  }
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
