// Every instance of the kernels of softmax and attention for CUDA against the double references, the
// gradients also against those of the CPU.
#include <tuple>

#include "formats/convert/packed_positions.hpp"
#include "runtime/core/attention_operands.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"
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
const Operation* const kSoftmax[] = {&runtime::kSoftmaxRows, &runtime::kSoftmaxRowsGradient};

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
  /// The same rows are X's or Y's and V's.
  void tie(std::size_t from, std::size_t to) { operands_.dense[to].data = operands_.dense[from].data; }

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

void check(const DeviceKernel& row, HeadProblem& p, bool permuted, Random& random, std::size_t shift = 0) {
  CAPTURE(label(row));
  CAPTURE(p.matrix().rows);
  CAPTURE(p.matrix().nnz());
  CAPTURE(static_cast<int>(p.variant().score));
  CAPTURE(p.n());
  CAPTURE(p.variant().m);
  CAPTURE(p.variant().heads);
  CAPTURE(p.operands().dense[0].ld);
  const auto order = permuted ? random_order(p.matrix().rows, random) : std::vector<std::int32_t>{};
  const Formatted formatted = format_matrix(p.matrix(), "csr", order);
  OnDevice device(p, shift);
  run(*planned(formatted, p, options_of(row, p)), p, device);
  CHECK(p.error() <= p.tolerance());
  CHECK(p.gaps_are_untouched());
}

HeadProblem problem(const Operation& op, const formats::Csr& a, const DeviceKernel& row, Score score,
                    std::int64_t n, std::int64_t m, const HeadLayout& layout, Random& random) {
  HeadProblem p(op, a, {.m = m, .score = score}, score == Score::additive ? 1 : n, types_of(row), layout,
                random);
  p.operands().alpha = 0.75;
  return p;
}

/// Lists stand in the order of the format.
void leave_lists_out(HeadProblem& p) {
  for (std::size_t i = 0; i < p.op().operands.size(); ++i)
    if (p.op().operands[i].optional && p.op().operands[i].extent == runtime::Extent::entries) p.leave_out(i);
}

constexpr Score kScores[] = {Score::dot, Score::cosine, Score::additive};

}  // namespace

TEST_CASE("cuda attention: every instance, score and layout of heads, any n and m") {
  Random random(41);
  const formats::Csr a = skewed_matrix(150, 900, random);
  for (const Operation* op : kScored)
    for (const DeviceKernel& row : csr_kernels(*op))
      for (const Score score : kScores) {
        for (const HeadLayout& layout : {HeadLayout{}, {4, 0, true}, {3, 1, true}, {5, 8}})
          for (const std::int64_t n : {32, 64}) {
            HeadProblem p = problem(*op, a, row, score, n, n, layout, random);
            check(row, p, false, random);
          }
        for (const std::int64_t n : {1, 3, 17, 33, 100, 128, 264})
          for (const std::int64_t m : {1, 17, 64, 100, 300}) {
            HeadProblem p = problem(*op, a, row, score, n, m, {2, 3}, random);
            leave_lists_out(p);
            check(row, p, n == 33, random, n == 17 ? 8 : 0);
          }
      }
}

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

TEST_CASE("cuda attention: dense rows of many thousands, many empty ones, no entries, rows or columns") {
  Random random(42);
  const auto one_dense = [](std::int64_t r, std::int64_t) { return r == 11 ? 1.0 : 0.001; };
  const auto empty = [](std::int64_t r, std::int64_t) { return r % 9 == 4 ? 0.2 : 0.0; };
  const formats::Csr matrices[] = {random_matrix(60, 20000, DType::none, random, one_dense),
                                   random_matrix(3000, 40, DType::none, random, empty),
                                   random_matrix(900, 700, 0.01, DType::none, random),
                                   random_matrix(0, 7, 0, DType::none, random),
                                   random_matrix(9, 0, 0, DType::none, random),
                                   random_matrix(40, 40, 0, DType::none, random)};
  for (const Operation* op : kScored)
    for (const DeviceKernel& row : csr_kernels(*op))
      for (const formats::Csr& a : matrices)
        for (const HeadLayout& layout : {HeadLayout{}, {3, 0, true}}) {
          HeadProblem p = problem(*op, a, row, Score::dot, 32, 40, layout, random);
          check(row, p, false, random);
        }
}

TEST_CASE("cuda attention: rows of Y that are V's, too, give the bits of those that are not") {
  Random random(43);
  const formats::Csr a = skewed_matrix(200, 3000, random);
  for (const Operation* op : {&runtime::kAttention, &runtime::kAttentionGradient})
    for (const DeviceKernel& row : csr_kernels(*op))
      for (const Score score : {Score::dot, Score::cosine})
        for (const std::int64_t n : {32, 64, 100}) {
          CAPTURE(label(row));
          HeadProblem p = problem(*op, a, row, score, n, n, {2, 0, true}, random);
          std::memcpy(p.array(2).data(), p.array(1).data(),
                      static_cast<std::size_t>(p.array(1).view().bytes()));
          const Formatted formatted = format_matrix(a, "csr");
          const auto plan = planned(formatted, p, options_of(row, p));
          OnDevice apart(p), tied(p);
          tied.tie(1, 2);
          const auto bytes = [&] {
            const ArrayView last = p.array(op->operands.size() - 1).view();
            const auto* const from = static_cast<const std::byte*>(last.data);
            return std::vector<std::byte>(from, from + last.bytes());
          };
          run(*plan, p, apart);
          const std::vector<std::byte> expected = bytes();
          run(*plan, p, tied);
          CHECK(bytes() == expected);
          CHECK(p.error() <= p.tolerance());
        }
}

TEST_CASE("cuda attention: masks, huge scores, NaN that stays in its row") {
  Random random(44);
  const formats::Csr a = skewed_matrix(100, 2000, random);
  for (const DeviceKernel& row : csr_kernels(runtime::kAttention)) {
    for (const double size : {1e4, -1e4}) {
      HeadProblem p = problem(runtime::kAttention, a, row, Score::dot, 32, 32, {}, random);
      p.sprinkle(runtime::kAttentionBias, 0.4, -HUGE_VAL, random);
      p.operands().alpha = size;
      check(row, p, false, random);
    }
    HeadProblem masked = problem(runtime::kAttention, a, row, Score::dot, 32, 32, {}, random);
    masked.sprinkle(runtime::kAttentionBias, 2, -HUGE_VAL, random);
    check(row, masked, false, random);
    for (std::int64_t k = 0; k < a.rows * 32; ++k) CHECK(masked.number(runtime::kAttentionOut, k) == 0);
    for (const std::int64_t bad : {4, 50}) {  // short, and in pieces
      HeadProblem p = problem(runtime::kAttention, a, row, Score::dot, 32, 32, {}, random);
      p.set(runtime::kAttentionX, bad * 32 + 3, NAN);
      check(row, p, false, random);
      for (std::int64_t k = 0; k < a.rows * 32; ++k)
        CHECK(std::isnan(p.number(runtime::kAttentionOut, k)) == (k / 32 == bad));
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

TEST_CASE("cuda attention: gradients agree with those of the CPU") {
  Random random(46);
  const formats::Csr a = skewed_matrix(120, 700, random);
  for (const Operation* op : {&runtime::kAttentionGradient, &runtime::kAttentionGradientT})
    for (const DeviceKernel& row : csr_kernels(*op)) {
      if (row.dense != DType::f32 && row.dense != DType::f64) continue;
      CAPTURE(label(row));
      for (const Score score : kScores) {
        HeadProblem p = problem(*op, a, row, score, 32, 32, {4, 0, true}, random);
        const Formatted formatted = format_matrix(a, "csr");
        OnDevice device(p);
        run(*planned(formatted, p, options_of(row, p)), p, device);
        const std::size_t last = op->operands.size() - 1;
        std::vector<double> found;
        for (std::int64_t k = 0; k < p.array(last).size(); ++k) found.push_back(p.number(last, k));
        runtime::PlanOptions options = options_of(row, p);
        options.device = runtime::Device::cpu;
        options.kernel = {};
        options.precision = {};
        REQUIRE(runtime::run(*planned(formatted, p, options), *op, p.operands()));
        double difference = 0, norm = 0;
        for (std::int64_t k = 0; k < p.array(last).size(); ++k) {
          const double x = p.number(last, k), y = found[static_cast<std::size_t>(k)];
          if (std::isnan(x) && std::isnan(y)) continue;  // between the results
          difference += (x - y) * (x - y);
          norm += x * x;
        }
        CHECK(std::sqrt(difference / norm) <= (row.dense == DType::f64 ? 1e-13 : 1e-5));
      }
    }
}

TEST_CASE("cuda softmax: every type, rows of every length, heads, masks, NaN that stays in its row") {
  Random random(47);
  const auto mixed = [](std::int64_t r, std::int64_t) {
    return r == 3 ? 0.9 : r == 4 ? 0.2 : r % 5 == 0 ? 0.0 : r < 40 ? 0.03 : 0.001;
  };
  const formats::Csr matrices[] = {random_matrix(700, 9000, DType::none, random, mixed),
                                   random_matrix(60, 9000, DType::none, random, mixed),
                                   random_matrix(0, 7, 0, DType::none, random),
                                   random_matrix(40, 40, 0, DType::none, random)};
  for (const Operation* op : kSoftmax)
    for (const DeviceKernel& row : csr_kernels(*op))
      for (const formats::Csr& a : matrices)
        for (const std::int64_t heads : {1, 3}) {
          HeadProblem p(*op, a, {}, 1, types_of(row), {heads, 5}, random);
          p.operands().alpha = -1.5;
          check(row, p, false, random);
          if (op == &runtime::kSoftmaxRowsGradient || a.nnz() == 0) continue;
          p.sprinkle(0, 0.4, -HUGE_VAL, random);
          p.operands().alpha = 1e3;
          check(row, p, false, random);
          p.set(0, a.row_ptr[3], NAN);
          check(row, p, false, random);
        }
}
