// Softmax of rows, attention and their gradients on the CPU: against the references, and these against
// differences.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "runtime/core/attention_operands.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"
#include "runtime/plan/plan.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/head_problem.hpp"
#include "tests/runtime/transposed.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::DenseTypes;
using runtime::Operation;
using runtime::Score;
using runtime::Variant;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

const Operation* const kScored[] = {&runtime::kAttention, &runtime::kAttentionGradient,
                                    &runtime::kAttentionGradientT};

runtime::PlanOptions options_of(const HeadProblem& p, int threads = 2) {
  return {.n = p.n(),
          .dense = p.types().operands,
          .result = p.types().result,
          .threads = threads,
          .variant = p.variant()};
}

void run(HeadProblem& p, const runtime::PlanOptions& options, const std::vector<std::int32_t>& order = {}) {
  const Formatted formatted = format_matrix(p.matrix(), "csr", order);
  const auto plan = runtime::plan_product(p.op(), formatted.matrix(), options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  const Status status = runtime::run(**plan, p.op(), p.operands());
  REQUIRE_MESSAGE(status.has_value(), status.error().text());
}

/// Runs the kernel of every instruction set that is here.
void check(HeadProblem& p) {
  CAPTURE(p.op().name);
  CAPTURE(name_of(p.types().operands));
  CAPTURE(name_of(p.types().result));
  CAPTURE(static_cast<int>(p.variant().score));
  CAPTURE(p.n());
  CAPTURE(p.variant().m);
  CAPTURE(p.variant().heads);
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (kernel.op != &p.op() || kernel.device != runtime::Device::cpu || !available(kernel)) continue;
    CAPTURE(kernel.name);
    runtime::PlanOptions options = options_of(p);
    options.kernel = kernel.name;
    run(p, options);
    CHECK(p.error() <= p.tolerance());
    CHECK(p.gaps_are_untouched());
  }
}

}  // namespace

TEST_CASE("attention: empty rows, and masked ones, are 0, and so are their statistics") {
  Random random(4);
  const formats::Csr a = skewed_matrix(20, 30, random);
  HeadProblem p(runtime::kAttention, a, {}, 8, DType::f32, {}, random);
  p.sprinkle(runtime::kAttentionBias, 2, kNone, random);
  check(p);
  for (std::int64_t k = 0; k < 20 * 8; ++k) CHECK(p.number(runtime::kAttentionOut, k) == 0);
  for (std::int64_t k = 0; k < 20 * 2; ++k) CHECK(p.number(runtime::kAttentionStatistics, k) == 0);

  HeadProblem softmax(runtime::kSoftmaxRows, a, {}, 1, DType::f32, {}, random);
  softmax.sprinkle(0, 2, kNone, random);
  check(softmax);
  for (std::int64_t k = 0; k < a.nnz(); ++k) CHECK(softmax.number(1, k) == 0);
}

TEST_CASE("softmax and attention: the same bits for any number of threads, and rows in another order") {
  const test::AllThreads all_threads;
  Random random(7);
  const formats::Csr a = skewed_matrix(60, 2000, random);
  for (const Operation* op : kScored) {
    HeadProblem p(*op, a, {.m = 40}, 24, DType::f32, {2}, random);
    p.leave_out(runtime::kAttentionBias);  // stands in the order of the format
    if (op == &runtime::kAttentionGradient) p.leave_out(8);
    run(p, options_of(p, 1));
    const std::size_t last = op->operands.size() - 1;
    const formats::Array& result = p.array(last);
    const auto bytes = [&] {
      const auto* const from = static_cast<const std::byte*>(result.data());
      return std::vector<std::byte>(from, from + result.view().bytes());
    };
    const std::vector<std::byte> one = bytes();
    for (const int threads : {2, 3, 8}) {
      run(p, options_of(p, threads));
      CHECK(bytes() == one);
    }
    run(p, options_of(p), random_order(a.rows, random));
    CHECK(bytes() == one);
  }
}

TEST_CASE("attention: a score of n that is not its own, alpha that is not a number, and beta are refused") {
  Random random(8);
  const formats::Csr a = skewed_matrix(9, 9, random);
  const Formatted formatted = format_matrix(a, "csr");
  for (const Operation* op : kScored) {
    HeadProblem p(*op, a, {}, 4, DType::f32, {}, random);
    runtime::PlanOptions options = options_of(p);
    options.variant.score = Score::additive;
    const auto refused = runtime::plan_product(*op, formatted.matrix(), options);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::usage);
    CHECK(refused.error().message.find("the additive score requires n = 1, got 4") != std::string::npos);
    const auto plan = runtime::plan_product(*op, formatted.matrix(), options_of(p));
    REQUIRE(plan);
    for (const auto& change : {std::function<void(runtime::Operands&)>([](auto& o) { o.alpha = kNaN; }),
                               {[](auto& o) { o.slope = -kNone; }},
                               {[](auto& o) { o.beta = 1; }},
                               {[](auto& o) { o.dense[0].data = nullptr; }},
                               {[](auto& o) { o.dense[4].ld = 1; }}}) {
      runtime::Operands bad = p.operands();
      change(bad);
      const Status status = runtime::run(**plan, *op, bad);
      REQUIRE_FALSE(status);
      CHECK(status.error().code == Errc::usage);
    }
  }
  const Formatted tiles = format_matrix(a, "bittcf");
  CHECK(runtime::plan_product(runtime::kAttention, tiles.matrix(), {.n = 4}).error().code ==
        Errc::unsupported);
}

namespace {

/// sum of dout * out as a function of the operands of attention, by the reference; f64, one head.
double loss(HeadProblem& p, const std::vector<double>& dout) {
  p.run_reference();
  double sum = 0;
  for (std::size_t k = 0; k < dout.size(); ++k)
    sum += dout[k] * p.number(runtime::kAttentionOut, static_cast<std::int64_t>(k));
  return sum;
}

/// Compares a gradient with central differences.
void check_differences(HeadProblem& p, std::size_t operand, std::int64_t count,
                       const std::vector<double>& dout, const std::function<double(std::int64_t)>& gradient) {
  constexpr double kStep = 1e-5;
  CAPTURE(operand);
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = p.number(operand, k);
    p.set(operand, k, x + kStep);
    const double above = loss(p, dout);
    p.set(operand, k, x - kStep);
    const double below = loss(p, dout);
    p.set(operand, k, x);
    CHECK(gradient(k) == doctest::Approx((above - below) / (2 * kStep)).epsilon(1e-6).scale(1));
  }
}

void copy(HeadProblem& to, std::size_t i, const HeadProblem& from, std::size_t j) {
  for (std::int64_t k = 0; k < to.array(i).size(); ++k) to.set(i, k, from.number(j, k));
}

void check_gradients(const formats::Csr& a, Score score, double alpha, double slope, Random& random) {
  CAPTURE(static_cast<int>(score));
  CAPTURE(alpha);
  const std::int64_t n = score == Score::additive ? 1 : 3, m = 4;
  const Variant variant{.m = m, .score = score};
  const Transposed transposed(a);
  HeadProblem forward(runtime::kAttention, a, variant, n, DType::f64, {}, random);
  HeadProblem rows(runtime::kAttentionGradient, a, variant, n, DType::f64, {}, random);
  HeadProblem columns(runtime::kAttentionGradientT, transposed.matrix, variant, n, DType::f64, {}, random);
  for (HeadProblem* p : {&forward, &rows, &columns}) {
    p->operands().alpha = alpha;
    p->operands().slope = slope;
  }
  run(forward, options_of(forward));
  for (const std::size_t i : {0, 1, 2, 3, 4, 5}) copy(rows, i, forward, i);
  run(rows, options_of(rows));
  for (const std::size_t i : {0, 1, 2, 4}) copy(columns, i, forward, i);
  copy(columns, 5, rows, 6);
  copy(columns, 6, rows, 7);
  for (std::int64_t k = 0; k < a.nnz(); ++k)
    columns.set(3, k, forward.number(3, transposed.source[static_cast<std::size_t>(k)]));
  run(columns, options_of(columns));

  std::vector<double> dout;
  for (std::int64_t k = 0; k < a.rows * m; ++k) dout.push_back(rows.number(6, k));
  check_differences(forward, 0, a.rows * n, dout, [&](std::int64_t k) { return rows.number(9, k); });
  check_differences(forward, 1, a.cols * n, dout, [&](std::int64_t k) { return columns.number(8, k); });
  check_differences(forward, 2, a.cols * m, dout, [&](std::int64_t k) { return columns.number(7, k); });
  check_differences(forward, 3, a.nnz(), dout, [&](std::int64_t k) { return rows.number(8, k); });
}

}  // namespace

TEST_CASE("attention: gradients are those of differences, for each score, slope and alpha") {
  Random random(9);
  const formats::Csr a = random_matrix(7, 6, 0.5, DType::f64, random);
  for (const double alpha : {1.0, -0.6, 2.5}) {
    check_gradients(a, Score::dot, alpha, 0.2, random);
    check_gradients(a, Score::cosine, alpha, 0.2, random);
    for (const double slope : {0.2, 0.0, -1.5}) check_gradients(a, Score::additive, alpha, slope, random);
  }
}

TEST_CASE("softmax: its gradient is that of differences") {
  Random random(10);
  const formats::Csr a = random_matrix(7, 6, 0.6, DType::f64, random);
  for (const double alpha : {1.0, -0.6, 2.5}) {
    HeadProblem forward(runtime::kSoftmaxRows, a, {}, 1, DType::f64, {}, random);
    HeadProblem backward(runtime::kSoftmaxRowsGradient, a, {}, 1, DType::f64, {}, random);
    forward.operands().alpha = backward.operands().alpha = alpha;
    run(forward, options_of(forward));
    copy(backward, 0, forward, 1);
    run(backward, options_of(backward));
    const auto sum = [&] {
      forward.run_reference();
      double all = 0;
      for (std::int64_t k = 0; k < a.nnz(); ++k) all += forward.number(1, k) * backward.number(1, k);
      return all;
    };
    for (std::int64_t k = 0; k < a.nnz(); ++k) {
      const double s = forward.number(0, k);
      forward.set(0, k, s + 1e-5);
      const double above = sum();
      forward.set(0, k, s - 1e-5);
      const double below = sum();
      forward.set(0, k, s);
      CHECK(backward.number(2, k) == doctest::Approx((above - below) / 2e-5).epsilon(1e-6).scale(1));
    }
  }
}
