// Attention on tiles for large matrices, and runs in graphs and on several streams; the property runner tests
// the rest.
#include <tuple>

#include "formats/convert/packed_positions.hpp"
#include "runtime/core/attention_operands.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "tests/gpu/device_problem.hpp"
#include "tests/runtime/head_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Operation;
using runtime::Score;
using runtime::cuda::DeviceKernel;

namespace {

const Operation* const kScored[] = {&runtime::kAttention, &runtime::kAttentionGradient,
                                    &runtime::kAttentionGradientT};

/// The operands of a problem in device memory.
class OnDevice {
 public:
  explicit OnDevice(const HeadProblem& p, std::size_t shift = 0) : operands_(p.operands()) {
    for (std::size_t i = 0; i < p.arrays().size(); ++i) {
      const ArrayView view = p.arrays()[i].view();
      copies_.push_back(
          std::make_unique<DeviceBytes>(view.data, static_cast<std::size_t>(view.bytes()), shift));
      if (operands_.dense[i].data != nullptr) operands_.dense[i].data = copies_[i]->get();
    }
  }

  [[nodiscard]] runtime::Operands& operands() { return operands_; }
  /// Brings results back.
  void collect(HeadProblem& p) const {
    for (std::size_t i = 0; i < copies_.size(); ++i)
      if (p.op().operands[i].result)
        std::memcpy(p.array(i).data(), copies_[i]->to_host().data(),
                    static_cast<std::size_t>(p.array(i).view().bytes()));
  }

 private:
  runtime::Operands operands_;
  std::vector<std::unique_ptr<DeviceBytes>> copies_;
};

/// Kernels over the rows of csr, which serve any n and m and keep NaN where it belongs.
std::vector<DeviceKernel> csr_kernels(const Operation& op) {
  std::vector<DeviceKernel> all = runnable_kernels(op);
  std::erase_if(all, [](const DeviceKernel& row) { return format_of(row.kernel) != "csr"; });
  return all;
}

runtime::PlanOptions options_of(const DeviceKernel& row, const HeadProblem& p) {
  runtime::PlanOptions options = options_for(row, p.n());
  options.variant = p.variant();
  return options;
}

std::shared_ptr<runtime::ProductPlan> planned(const Formatted& formatted, const HeadProblem& p,
                                              const runtime::PlanOptions& options) {
  const auto plan = runtime::plan_product(p.op(), formatted.matrix(), options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  return *plan;
}

void run(const runtime::ProductPlan& plan, HeadProblem& p, OnDevice& device) {
  const Status status = runtime::run(plan, p.op(), device.operands());
  REQUIRE_MESSAGE(status.has_value(), status.error().text());
  require(cudaDeviceSynchronize());
  device.collect(p);
}

HeadProblem problem(const Operation& op, const formats::Csr& a, const DeviceKernel& row, Score score,
                    std::int64_t n, std::int64_t m, const HeadLayout& layout, Random& random) {
  HeadProblem p(op, a, {.m = m, .score = score}, score == Score::additive ? 1 : n, types_of(row), layout,
                random);
  p.operands().alpha = 0.75;
  return p;
}

constexpr Score kScores[] = {Score::dot, Score::cosine, Score::additive};

}  // namespace

TEST_CASE("cuda attention: tiles, of every score, width and layout of heads, in teams and on streams") {
  Random random(46);
  const formats::Csr uneven = skewed_matrix(150, 900, random);
  const formats::Csr wide = random_matrix(40, 9000, DType::none, random,
                                          [](std::int64_t r, std::int64_t) { return r == 9 ? 0.9 : 0.02; });
  for (const DeviceKernel& row : runnable_kernels(runtime::kAttention)) {
    if (format_of(row.kernel) == "csr") continue;
    CAPTURE(label(row));
    for (const formats::Csr* a : {&uneven, &wide})
      for (const Score score : kScores)
        for (const auto& [n, m, layout] : {std::tuple{32, 32, HeadLayout{}},
                                           {64, 64, HeadLayout{4, 0, true}},
                                           {17, 33, HeadLayout{3, 1}}}) {
          HeadProblem p = problem(runtime::kAttention, *a, row, score, n, m, layout, random);
          const auto order = n == 17 ? random_order(a->rows, random) : std::vector<std::int32_t>{};
          const Formatted formatted = format_matrix(*a, format_of(row.kernel), order);
          const auto packed = formats::packed_positions(formatted.data.view(), order);
          REQUIRE(packed);
          OnDevice device(p, 0);
          const auto plan = planned(formatted, p, options_of(row, p));
          run(*plan, p, device);
          const double rounding = row.precision == runtime::Precision::tf32 ? 2e-3 : 8e-3;
          CHECK(p.error(packed->view().as<std::int64_t>()) <= p.tolerance() + rounding);
          CHECK(p.gaps_are_untouched());
          const formats::Array& out = p.array(runtime::kAttentionOut);
          const auto* const bytes = static_cast<const std::byte*>(out.data());
          const std::vector<std::byte> first(bytes, bytes + out.view().bytes());
          run(*plan, p, device);
          CHECK(std::memcmp(first.data(), out.data(), first.size()) == 0);
        }
  }
}

TEST_CASE("cuda attention: many runs, in a graph and on several streams, give the same bits") {
  Random random(45);
  const formats::Csr a = skewed_matrix(300, 5000, random);
  for (const Operation* op : kScored)
    for (const DeviceKernel& row : csr_kernels(*op)) {
      CAPTURE(label(row));
      HeadProblem p = problem(*op, a, row, Score::dot, 64, 64, {4, 0, true}, random);
      const Formatted formatted = format_matrix(a, "csr");
      const auto plan = planned(formatted, p, options_of(row, p));
      OnDevice first(p), second(p);
      const Stream streams[2];
      const std::size_t room = runtime::workspace_bytes(*plan);
      const std::vector<std::byte> zeros(room);
      const DeviceBytes workspace(zeros.data(), room);
      Graph graph;
      require(cudaStreamBeginCapture(streams[0].get(), cudaStreamCaptureModeGlobal));
      const Status status = runtime::run(*plan, *op, first.operands(), streams[0].get());
      require(cudaStreamEndCapture(streams[0].get(), &graph.graph));
      REQUIRE(status);
      require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
      second.operands().workspace = workspace.get();
      second.operands().workspace_size = room;
      for (int i = 0; i < 20; ++i) {
        require(cudaGraphLaunch(graph.executable, streams[0].get()));
        REQUIRE(runtime::run(*plan, *op, second.operands(), streams[1].get()));
      }
      require(cudaDeviceSynchronize());
      first.collect(p);
      std::vector<formats::Array> results;
      for (std::size_t i = 0; i < p.arrays().size(); ++i)
        results.push_back(formats::convert_values(p.arrays()[i].view(), DType::f64));
      CHECK(p.error() <= p.tolerance());
      second.collect(p);
      for (std::size_t i = 0; i < p.arrays().size(); ++i) {
        const formats::Array again = formats::convert_values(p.arrays()[i].view(), DType::f64);
        CHECK(std::memcmp(again.data(), results[i].data(), static_cast<std::size_t>(again.view().bytes())) ==
              0);
      }
    }
}
