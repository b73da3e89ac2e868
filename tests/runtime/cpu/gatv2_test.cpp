// GATv2 attention and its gradients on the CPU: against the references, and these against differences.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/gatv2.hpp"
#include "runtime/operation/gatv2_edges.hpp"
#include "runtime/plan/plan.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/head_problem.hpp"
#include "tests/runtime/transposed.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Operation;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

const Operation* const kOperations[] = {&runtime::kGatv2, &runtime::kGatv2Gradient,
                                        &runtime::kGatv2GradientT};
const Operation* const kWithFeatures[] = {&runtime::kGatv2WithFeatures, &runtime::kGatv2WithFeaturesGradient,
                                          &runtime::kGatv2WithFeaturesGradientT,
                                          &runtime::kGatv2WithFeaturesWeights};

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

/// Runs the kernel of each instruction set of this machine.
void check(HeadProblem& p) {
  CAPTURE(p.op().name);
  CAPTURE(name_of(p.types().operands));
  CAPTURE(name_of(p.types().result));
  CAPTURE(p.n());
  CAPTURE(p.variant().heads);
  CAPTURE(p.variant().m);
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

/// Indices of the operands that may be null, in the order of the operation.
std::vector<std::size_t> optional_operands(const Operation& op) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (op.operands[i].optional) found.push_back(i);
  return found;
}

}  // namespace

TEST_CASE("gatv2: all types, widths and layouts give the reference, and so do long rows") {
  Random random(1);
  const formats::Csr a = skewed_matrix(31, 700, random);
  for (const Operation* op : kOperations)
    for (const runtime::DenseTypes types : {runtime::DenseTypes(DType::f32),
                                            {DType::f64},
                                            {DType::f16},
                                            {DType::bf16},
                                            {DType::bf16, DType::f32}})
      for (const std::int64_t n : {1, 8, 17, 300}) {
        HeadProblem p(*op, a, {}, n, types, {.heads = 2, .pad = 1, .interleaved = n == 17}, random);
        p.operands().slope = n == 8 ? -0.5 : 0.2;
        p.scale(runtime::kGatv2Vector, 1 / std::sqrt(static_cast<double>(n)));
        check(p);
      }
}

TEST_CASE("gatv2_edges: all types, widths, numbers of features and layouts give the reference") {
  Random random(6);
  const formats::Csr a = skewed_matrix(31, 700, random);
  for (const Operation* op : kWithFeatures)
    for (const runtime::DenseTypes types : {runtime::DenseTypes(DType::f32),
                                            {DType::f64},
                                            {DType::f16},
                                            {DType::bf16},
                                            {DType::bf16, DType::f32}})
      for (const auto& [n, m] : {std::pair{1, 3}, {8, 1}, {17, 8}, {300, 16}}) {
        HeadProblem p(*op, a, {.m = m}, n, types, {.heads = 2, .pad = 1, .interleaved = n == 17}, random);
        p.operands().slope = n == 8 ? -0.5 : 0.2;
        p.scale(runtime::kGatv2Vector, 1 / std::sqrt(static_cast<double>(n)));
        check(p);
      }
}

TEST_CASE("gatv2: each optional operand may be null") {
  Random random(2);
  const formats::Csr a = skewed_matrix(20, 30, random);
  const auto check_all = [&](const Operation* op, const runtime::Variant& variant) {
    for (const std::size_t left_out : optional_operands(*op)) {
      HeadProblem p(*op, a, variant, 12, DType::f32, {}, random);
      p.leave_out(left_out);
      check(p);
    }
  };
  for (const Operation* op : kOperations) check_all(op, {});
  for (const Operation* op : kWithFeatures) check_all(op, {.m = 5});
}

TEST_CASE("gatv2_edges: a matrix without entries gives zeros") {
  Random random(7);
  const formats::Csr a = random_matrix(3, 4, 0, DType::none, random);
  for (const Operation* op : kWithFeatures) {
    HeadProblem p(*op, a, {.m = 2}, 5, DType::f32, {2}, random);
    check(p);
    for (std::int64_t k = 0; k < 3 * 5; ++k)
      if (op != &runtime::kGatv2WithFeaturesWeights) CHECK(p.number(op->operands.size() - 1, k) == 0);
  }
}

TEST_CASE("gatv2_edges: more features than kernels keep are refused") {
  Random random(8);
  const formats::Csr a = skewed_matrix(20, 30, random);
  for (const Operation* op : kWithFeatures) {
    HeadProblem p(*op, a, {.m = 17}, 8, DType::f32, {}, random);
    const Formatted formatted = format_matrix(a, "csr", {});
    const auto plan = runtime::plan_product(*op, formatted.matrix(), options_of(p));
    REQUIRE_FALSE(plan.has_value());
    CHECK(plan.error().text().find("at most 16") != std::string::npos);
  }
}

TEST_CASE("gatv2: masked rows are 0, and so are their statistics") {
  Random random(3);
  const formats::Csr a = skewed_matrix(20, 30, random);
  HeadProblem p(runtime::kGatv2, a, {}, 8, DType::f32, {}, random);
  p.sprinkle(runtime::kAttentionBias, 2, kNone, random);
  check(p);
  for (std::int64_t k = 0; k < 20 * 8; ++k) CHECK(p.number(runtime::kGatv2Out, k) == 0);
  for (std::int64_t k = 0; k < 20 * 2; ++k) CHECK(p.number(runtime::kAttentionStatistics, k) == 0);
}

TEST_CASE("gatv2: the same bits for any number of threads, and rows in another order") {
  const test::AllThreads all_threads;
  Random random(4);
  const formats::Csr a = skewed_matrix(60, 2000, random);
  const auto check_bits = [&](const Operation* op, const runtime::Variant& variant, bool reordered) {
    HeadProblem p(*op, a, variant, 24, DType::f32, {2}, random);
    for (const std::size_t i : optional_operands(*op))
      if (op->operands[i].extent != runtime::Extent::rows) p.leave_out(i);  // in the order of the format
    const formats::Array& result = p.array(op->operands.size() - 1);
    const auto bytes = [&] {
      const auto* const from = static_cast<const std::byte*>(result.data());
      return std::vector<std::byte>(from, from + result.view().bytes());
    };
    run(p, options_of(p, 1));
    const std::vector<std::byte> one = bytes();
    for (const int threads : {2, 3, 8}) {
      run(p, options_of(p, threads));
      CHECK(bytes() == one);
    }
    if (!reordered) return;
    run(p, options_of(p), random_order(a.rows, random));
    CHECK(bytes() == one);
  };
  for (const Operation* op : kOperations) check_bits(op, {}, true);
  for (const Operation* op : kWithFeatures) check_bits(op, {.m = 7}, false);  // features are in that order
}

namespace {

void copy(HeadProblem& to, std::size_t i, const HeadProblem& from, std::size_t j) {
  for (std::int64_t k = 0; k < to.array(i).size(); ++k) to.set(i, k, from.number(j, k));
}

/// Compares a gradient with central differences of sum of dout * out.
void check_differences(HeadProblem& p, std::size_t operand, std::int64_t count, const HeadProblem& rows,
                       const std::function<double(std::int64_t)>& gradient,
                       const runtime::Gatv2Side& side = runtime::kGatv2Rows) {
  constexpr double kStep = 1e-6;
  CAPTURE(operand);
  const auto loss = [&] {
    p.run_reference();
    double sum = 0;
    for (std::int64_t k = 0; k < p.matrix().rows * p.n(); ++k)
      sum += rows.number(side.dout, k) * p.number(side.out, k);
    return sum;
  };
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = p.number(operand, k);
    p.set(operand, k, x + kStep);
    const double above = loss();
    p.set(operand, k, x - kStep);
    const double below = loss();
    p.set(operand, k, x);
    CHECK(gradient(k) == doctest::Approx((above - below) / (2 * kStep)).epsilon(1e-5).scale(1));
  }
}

}  // namespace

TEST_CASE("gatv2: gradients are those of differences") {
  using namespace sptile::runtime;
  Random random(5);
  constexpr std::int64_t n = 3;
  const formats::Csr a = random_matrix(7, 6, 0.5, DType::f64, random);
  const Transposed transposed(a);
  for (const double alpha : {1.0, -0.6})
    for (const double slope : {0.2, 0.0, -1.5})
      for (const bool edges : {true, false}) {
        HeadProblem forward(kGatv2, a, {}, n, DType::f64, {}, random);
        HeadProblem rows(kGatv2Gradient, a, {}, n, DType::f64, {}, random);
        HeadProblem columns(kGatv2GradientT, transposed.matrix, {}, n, DType::f64, {}, random);
        for (HeadProblem* p : {&forward, &rows, &columns}) {
          p->operands().alpha = alpha;
          p->operands().slope = slope;
        }
        if (!edges) {
          forward.leave_out(kGatv2Edges);
          rows.leave_out(kGatv2Edges);
        }
        ::run(forward, options_of(forward));
        for (std::size_t i = 0; i <= kGatv2Out; ++i) copy(rows, i, forward, i);
        ::run(rows, options_of(rows));
        check_differences(forward, kAttentionX, a.rows * n, rows,
                          [&](std::int64_t k) { return rows.number(kGatv2Rows.gradient, k); });
        check_differences(forward, kGatv2Vector, n, rows, [&](std::int64_t c) {
          double sum = 0;
          for (std::int64_t i = 0; i < a.rows; ++i) sum += rows.number(kGatv2VectorGradient, i * n + c);
          return sum;
        });
        if (edges) {
          check_differences(forward, kGatv2Edges, a.nnz() * n, rows,
                            [&](std::int64_t k) { return rows.number(kGatv2EdgesGradient, k); });
          // dY is the sum of weights * dout + dedges.
          check_differences(forward, kAttentionY, a.cols * n, rows, [&](std::int64_t at) {
            double sum = 0;
            for (std::int64_t i = 0; i < a.rows; ++i)
              for (std::int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
                if (a.col_idx[k] == at / n)
                  sum += rows.number(kGatv2Weights, k) * rows.number(kGatv2Rows.dout, i * n + at % n) +
                         rows.number(kGatv2EdgesGradient, k * n + at % n);
            return sum;
          });
          continue;
        }
        for (const std::size_t i : {0, 1, 2, 4}) copy(columns, i, forward, i);
        copy(columns, kGatv2Columns.dout, rows, kGatv2Rows.dout);
        copy(columns, kGatv2Columns.delta, rows, kGatv2Rows.delta);
        for (std::int64_t k = 0; k < a.nnz(); ++k)
          for (const std::size_t list : {kAttentionBias, kGatv2Factors})
            columns.set(list, k, forward.number(list, transposed.source[static_cast<std::size_t>(k)]));
        ::run(columns, options_of(columns));
        check_differences(forward, kAttentionY, a.cols * n, rows,
                          [&](std::int64_t k) { return columns.number(kGatv2Columns.gradient, k); });
      }
}

TEST_CASE("gatv2_edges: gradients are those of differences") {
  using namespace sptile::runtime;
  Random random(9);
  constexpr std::int64_t n = 3, m = 4;
  const formats::Csr a = random_matrix(7, 6, 0.5, DType::f64, random);
  const Transposed transposed(a);
  for (const double slope : {0.2, -1.5}) {
    HeadProblem forward(kGatv2WithFeatures, a, {.m = m}, n, DType::f64, {}, random);
    HeadProblem rows(kGatv2WithFeaturesGradient, a, {.m = m}, n, DType::f64, {}, random);
    HeadProblem columns(kGatv2WithFeaturesGradientT, transposed.matrix, {.m = m}, n, DType::f64, {}, random);
    HeadProblem weights(kGatv2WithFeaturesWeights, a, {.m = m}, n, DType::f64, {}, random);
    for (HeadProblem* p : {&forward, &rows, &columns, &weights}) p->operands().slope = slope;
    for (HeadProblem* p : {&forward, &rows, &columns}) p->operands().alpha = 0.7;
    ::run(forward, options_of(forward));
    for (std::size_t i = 0; i <= kGatv2EdgesOut; ++i) copy(rows, i, forward, i);
    ::run(rows, options_of(rows));
    const auto check_forward = [&](std::size_t operand, std::int64_t count,
                                   const std::function<double(std::int64_t)>& gradient) {
      check_differences(forward, operand, count, rows, gradient, kGatv2EdgesRows);
    };
    check_forward(kAttentionX, a.rows * n,
                  [&](std::int64_t k) { return rows.number(kGatv2EdgesRows.gradient, k); });
    check_forward(kGatv2Vector, n, [&](std::int64_t c) {
      double sum = 0;
      for (std::int64_t i = 0; i < a.rows; ++i) sum += rows.number(kGatv2VectorGradient, i * n + c);
      return sum;
    });
    check_forward(kAttentionBias, a.nnz(),
                  [&](std::int64_t k) { return rows.number(kGatv2EdgesDs, k) / 0.7; });
    for (const std::size_t i : {0, 1, 2}) copy(weights, i, forward, i);
    copy(weights, kGatv2WeightsFeatures.edges, forward, kGatv2Edges);
    copy(weights, kGatv2WeightsFeatures.w, forward, kGatv2W);
    copy(weights, kGatv2WeightsDs, rows, kGatv2EdgesDs);
    ::run(weights, options_of(weights));
    check_forward(kGatv2W, n * m, [&](std::int64_t k) { return weights.number(kGatv2WeightsGradient, k); });
    for (const std::size_t i : {0, 1, 2, 4}) copy(columns, i, forward, i);
    copy(columns, kGatv2W, forward, kGatv2W);
    copy(columns, kGatv2EdgesColumns.dout, rows, kGatv2EdgesRows.dout);
    copy(columns, kGatv2EdgesColumns.delta, rows, kGatv2EdgesRows.delta);
    for (std::int64_t k = 0; k < a.nnz(); ++k) {
      const std::int64_t from = transposed.source[static_cast<std::size_t>(k)];
      for (const std::size_t list : {kAttentionBias, kGatv2Factors})
        columns.set(list, k, forward.number(list, from));
      for (std::int64_t f = 0; f < m; ++f)
        columns.set(kGatv2Edges, k * m + f, forward.number(kGatv2Edges, from * m + f));
    }
    ::run(columns, options_of(columns));
    check_forward(kAttentionY, a.cols * n,
                  [&](std::int64_t k) { return columns.number(kGatv2EdgesColumns.gradient, k); });
  }
}
