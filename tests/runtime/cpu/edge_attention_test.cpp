// Attention with edge features and its gradient on the CPU: against the references, and these against
// differences.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "runtime/core/edge_attention_operands.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/edge_attention.hpp"
#include "runtime/plan/plan.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/head_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Operation;

namespace {

const Operation* const kOperations[] = {&runtime::kEdgeAttention, &runtime::kEdgeAttentionGradient};

runtime::PlanOptions options_of(const HeadProblem& p, int threads = 2) {
  return {.n = p.n(),
          .dense = p.types().operands,
          .result = p.types().result,
          .threads = threads,
          .variant = p.variant()};
}

Status run(HeadProblem& p, const runtime::PlanOptions& options) {
  const Formatted formatted = format_matrix(p.matrix(), "csr");
  const auto plan = runtime::plan_product(p.op(), formatted.matrix(), options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  return runtime::run(**plan, p.op(), p.operands());
}

void run_well(HeadProblem& p, const runtime::PlanOptions& options) {
  const Status status = run(p, options);
  REQUIRE_MESSAGE(status.has_value(), status.error().text());
}

/// Runs the kernel of each instruction set of this machine.
void check(HeadProblem& p) {
  CAPTURE(p.op().name);
  CAPTURE(name_of(p.types().operands));
  CAPTURE(name_of(p.types().result));
  CAPTURE(p.n());
  CAPTURE(p.variant().m);
  CAPTURE(p.variant().heads);
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (kernel.op != &p.op() || kernel.device != runtime::Device::cpu || !available(kernel)) continue;
    CAPTURE(kernel.name);
    runtime::PlanOptions options = options_of(p);
    options.kernel = kernel.name;
    run_well(p, options);
    CHECK(p.error() <= p.tolerance());
    CHECK(p.gaps_are_untouched());
  }
}

/// Lets the heads of a problem share the first head's rows of edges.
void share_edges(HeadProblem& p) { p.operands().dense[runtime::kEdges].batch = 0; }

}  // namespace

TEST_CASE("edge_attention: all types, widths and layouts give the reference, and so do long rows") {
  Random random(1);
  const formats::Csr a = skewed_matrix(31, 700, random);
  for (const Operation* op : kOperations)
    for (const runtime::DenseTypes types : {runtime::DenseTypes(DType::f32),
                                            {DType::f64},
                                            {DType::f16},
                                            {DType::bf16},
                                            {DType::bf16, DType::f32}})
      for (const auto& [n, m] : {std::pair{1, 5}, {8, 0}, {17, 3}, {300, 8}, {4, 270}}) {
        HeadProblem p(*op, a, {.m = m}, n, types, {.heads = 2, .pad = 1, .interleaved = n == 17}, random);
        p.operands().alpha = 1 / std::sqrt(static_cast<double>(n));
        check(p);
        share_edges(p);
        check(p);
      }
}

TEST_CASE("edge_attention: each optional operand may be null") {
  Random random(2);
  const formats::Csr a = skewed_matrix(20, 30, random);
  for (const Operation* op : kOperations)
    for (std::size_t i = 0; i < op->operands.size(); ++i) {
      if (!op->operands[i].optional) continue;
      HeadProblem p(*op, a, {.m = 3}, 12, DType::f32, {}, random);
      p.leave_out(i);
      check(p);
    }
}

TEST_CASE("edge_attention: rows without entries are 0, and so are their statistics") {
  Random random(3);
  const formats::Csr a = random_matrix(6, 5, 0, DType::none, random);
  HeadProblem p(runtime::kEdgeAttention, a, {.m = 3}, 4, DType::f32, {}, random);
  check(p);
  for (std::int64_t k = 0; k < 6 * 4; ++k) CHECK(p.number(runtime::kEdgeAttentionOut, k) == 0);
  for (std::int64_t k = 0; k < 6 * 3; ++k) CHECK(p.number(runtime::kEdgeOut, k) == 0);
  for (std::int64_t k = 0; k < 6 * 2; ++k) CHECK(p.number(runtime::kAttentionStatistics, k) == 0);
}

TEST_CASE("edge_attention: a negative distance between the heads of edges is refused") {
  Random random(4);
  const formats::Csr a = skewed_matrix(20, 30, random);
  HeadProblem p(runtime::kEdgeAttention, a, {.m = 3}, 4, DType::f32, {.heads = 2}, random);
  p.operands().dense[runtime::kEdges].batch = -3;
  const Status status = run(p, options_of(p));
  REQUIRE(!status.has_value());
  CHECK(status.error().message == "edge_attention: the heads of edges are -3 elements apart");
}

TEST_CASE("edge_attention: the same bits for any number of threads") {
  const test::AllThreads all_threads;
  Random random(5);
  const formats::Csr a = skewed_matrix(60, 2000, random);
  for (const Operation* op : kOperations) {
    HeadProblem p(*op, a, {.m = 8}, 24, DType::f32, {2}, random);
    const formats::Array& result = p.array(op->operands.size() - 1);
    const auto bytes = [&] {
      const auto* const from = static_cast<const std::byte*>(result.data());
      return std::vector<std::byte>(from, from + result.view().bytes());
    };
    run_well(p, options_of(p, 1));
    const std::vector<std::byte> one = bytes();
    for (const int threads : {2, 3, 8}) {
      run_well(p, options_of(p, threads));
      CHECK(bytes() == one);
    }
  }
}

namespace {

void copy(HeadProblem& to, std::size_t i, const HeadProblem& from, std::size_t j) {
  for (std::int64_t k = 0; k < to.array(i).size(); ++k) to.set(i, k, from.number(j, k));
}

}  // namespace

TEST_CASE("edge_attention: gradients are those of differences") {
  using namespace sptile::runtime;
  Random random(6);
  constexpr std::int64_t n = 3, m = 2;
  const formats::Csr a = random_matrix(7, 6, 0.5, DType::f64, random);
  for (const double alpha : {1.0, -0.6}) {
    HeadProblem forward(kEdgeAttention, a, {.m = m}, n, DType::f64, {}, random);
    HeadProblem gradient(kEdgeAttentionGradient, a, {.m = m}, n, DType::f64, {}, random);
    forward.operands().alpha = gradient.operands().alpha = alpha;
    run_well(forward, options_of(forward));
    for (std::size_t i = 0; i <= kEdgeAttentionOut; ++i) copy(gradient, i, forward, i);
    run_well(gradient, options_of(gradient));
    const auto loss = [&] {
      forward.run_reference();
      double sum = 0;
      for (std::int64_t k = 0; k < a.rows * n; ++k)
        sum += gradient.number(kEdgeAttentionDOut, k) * forward.number(kEdgeAttentionOut, k);
      for (std::int64_t k = 0; k < a.rows * m; ++k)
        sum += gradient.number(kEdgeDOut, k) * forward.number(kEdgeOut, k);
      return sum;
    };
    const auto check_differences = [&](std::size_t operand, std::int64_t count,
                                       const std::function<double(std::int64_t)>& of) {
      constexpr double kStep = 1e-6;
      CAPTURE(operand);
      for (std::int64_t k = 0; k < count; ++k) {
        const double x = forward.number(operand, k);
        forward.set(operand, k, x + kStep);
        const double above = loss();
        forward.set(operand, k, x - kStep);
        const double below = loss();
        forward.set(operand, k, x);
        CHECK(of(k) == doctest::Approx((above - below) / (2 * kStep)).epsilon(1e-5).scale(1));
      }
    };
    const auto number_of = [&](std::size_t operand) {
      return [&gradient, operand](std::int64_t k) { return gradient.number(operand, k); };
    };
    check_differences(kAttentionX, a.rows * n, number_of(kEdgeAttentionGradientX));
    check_differences(kEdgeQueries, a.rows * m, number_of(kEdgeQueriesGradient));
    check_differences(kEdges, a.nnz() * m, number_of(kEdgesGradient));
    // Products of A^T with the lists.
    const auto of_columns = [&](std::size_t list, std::size_t rows, double scale) {
      return [&gradient, &a, list, rows, scale](std::int64_t at) {
        double sum = 0;
        for (std::int64_t i = 0; i < a.rows; ++i)
          for (std::int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
            if (a.col_idx[k] == at / n)
              sum += scale * gradient.number(list, k) * gradient.number(rows, i * n + at % n);
        return sum;
      };
    };
    check_differences(kAttentionV, a.cols * n, of_columns(kEdgeWeights, kEdgeAttentionDOut, 1));
    check_differences(kAttentionY, a.cols * n, of_columns(kEdgeDScores, kAttentionX, alpha));
  }
}
