// Every instance of every kernel of spmm_update and update_gradient for CUDA against the double reference.
#include <array>
#include <memory>

#include "runtime/choice/prediction.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"
#include "tests/gpu/device_problem.hpp"
#include "tests/runtime/random_operation.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Activation;
using runtime::kSpmmUpdate;
using runtime::kUpdateGradient;
using runtime::Operation;
using runtime::cuda::DeviceKernel;

namespace {

constexpr const Operation* kBoth[] = {&kSpmmUpdate, &kUpdateGradient};

/// A copy of operands on the device; results come back into the host's.
class OnDevice {
 public:
  OnDevice(const OperationProblem& p, RandomOperands& host) : p_(p), host_(host), operands_(host.operands()) {
    for (std::size_t i = 0; i < p.op.operands.size(); ++i) {
      if (operands_.dense[i].data == nullptr) continue;
      copies_[i] = std::make_unique<DeviceBytes>(operands_.dense[i].data, host.bytes(i));
      operands_.dense[i].data = copies_[i]->get();
    }
  }
  [[nodiscard]] const runtime::Operands& operands() const { return operands_; }
  void fetch() {
    require(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < p_.op.operands.size(); ++i)
      if (p_.op.operands[i].result && copies_[i])
        require(cudaMemcpy(host_.array(static_cast<int>(i)).data(), copies_[i]->get(), host_.bytes(i),
                           cudaMemcpyDeviceToHost));
  }
  [[nodiscard]] std::vector<std::byte> result() const {
    return copies_[p_.op.operands.size() - 1]->to_host();
  }

 private:
  OperationProblem p_;
  RandomOperands& host_;
  runtime::Operands operands_;
  std::array<std::unique_ptr<DeviceBytes>, runtime::kMaxOperands> copies_;
};

std::shared_ptr<runtime::ProductPlan> planned(const DeviceKernel& row, const OperationProblem& p,
                                              const Formatted& formatted) {
  runtime::PlanOptions options = options_for(row, p.n);
  options.variant = p.variant;
  auto plan = runtime::plan_product(p.op, formatted.matrix(), options);
  // A format's SpMM may lack a precision or a type of values that the update itself has.
  if (!plan && plan.error().code == Errc::unsupported) return nullptr;
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  return *plan;
}

/// Of products of two steps, each rounded; Z may be of 16 bits, and with Libra's formats is rounded twice.
double allowed(const DeviceKernel& row, const runtime::DenseTypes& types) {
  const double of_one = types.operands == DType::bf16 ? 0x1p-9 : types.operands == DType::f16 ? 0x1p-12 : 0;
  const double of_z = (format_of(row.kernel).starts_with("libra") ? 2 : 1) * of_one;
  return 2 * runtime::factor_error(runtime::kSpmm, row.precision, types) + of_z;
}

void check(const DeviceKernel& row, OperationProblem p, bool permuted, bool all_results, Random& random) {
  p.types = types_of(row);
  CAPTURE(label(row));
  CAPTURE(p.a.rows);
  CAPTURE(p.n);
  CAPTURE(p.variant.m);
  CAPTURE(p.pad);
  const Formatted formatted = format_matrix(
      p.a, format_of(row.kernel), permuted ? random_order(p.a.rows, random) : std::vector<std::int32_t>{});
  const auto plan = planned(row, p, formatted);
  if (plan == nullptr) return;
  RandomOperands host(p, random);
  for (std::size_t i = 0; i < p.op.operands.size() && !all_results; ++i)
    if (p.op.operands[i].optional && p.op.operands[i].name != "C") host.leave_out(static_cast<int>(i));
  OnDevice device(p, host);
  const Status status = runtime::run(*plan, p.op, device.operands());
  REQUIRE_MESSAGE(status.has_value(), status.error().message);
  device.fetch();
  CHECK(host.error(p.a.values.dtype()) <= host.tolerated() + allowed(row, p.types));
  CHECK(host.gaps_untouched());
}

double skewed(std::int64_t r, std::int64_t) { return r % 5 == 1 ? 0 : r == 7 ? 1 : 0.03; }

}  // namespace

TEST_CASE("cuda update: any n and m, weights either way round, relu, optional operands") {
  Random random(51);
  for (const Operation* op : kBoth)
    for (const DeviceKernel& row : runnable_kernels(*op)) {
      const formats::Csr a = random_matrix(150, 700, row.any_values ? row.dense : row.values, random, skewed);
      bool turned = false;
      for (const std::int64_t n : {1, 3, 17, 32, 47, 64, 100, 128, 130})
        for (const std::int64_t m : {1, 17, 47, 64, 128}) {
          turned = !turned;
          check(row,
                {*op,
                 a,
                 n,
                 {},
                 {.m = m,
                  .activation = n % 2 == 0 ? Activation::relu : Activation::none,
                  .transposed_weights = turned},
                 m % 3 == 1 ? 8 : m % 3,
                 1.5},
                n % 4 == 0, m != 47, random);
        }
      check(row, {*op, a, 264, {}, {.m = 200}, 0}, false, false, random);
    }
}

TEST_CASE("cuda update: rows of many entries, empty rows, no rows; several heads; values of any type") {
  Random random(52);
  const auto long_rows = [](std::int64_t r, std::int64_t) {
    return r % 16 == 3 ? 0.5 : r % 3 == 0 ? 0 : 0.004;
  };
  for (const Operation* op : kBoth)
    for (const DeviceKernel& row : runnable_kernels(*op)) {
      const DType values = row.any_values ? row.dense : row.values;
      const formats::Csr a = random_matrix(64, 9000, values, random, long_rows);
      check(row, {*op, a, 64, {}, {.m = 64}, 0}, true, true, random);
      check(row, {*op, a, 20, {}, {.m = 12, .heads = 3, .activation = Activation::relu}, 1}, false, true,
            random);
      const formats::Csr pattern = random_matrix(300, 200, DType::none, random, skewed);
      check(row, {*op, pattern, 32, {}, {.m = 32}, 0}, false, true, random);
      for (const auto& [rows, cols] : {std::pair{0, 9}, {9, 0}, {40, 40}})
        check(row, {*op, random_matrix(rows, cols, 0, values, random), 16, {}, {.m = 8}, 0}, false, true,
              random);
    }
}

TEST_CASE("cuda update: the same bits every time, in a graph, on a workspace of the caller's") {
  Random random(53);
  for (const Operation* op : kBoth)
    for (const DeviceKernel& row : runnable_kernels(*op)) {
      CAPTURE(label(row));
      const formats::Csr a =
          random_matrix(3000, 4000, row.any_values ? row.dense : row.values, random,
                        [](std::int64_t r, std::int64_t) { return r % 500 == 5 ? 0.9 : 0.003; });
      const OperationProblem p{*op, a, 64, types_of(row), {.m = 32}};
      const auto plan = planned(row, p, format_matrix(a, format_of(row.kernel)));
      if (plan == nullptr || !kernel_of(row).deterministic) continue;
      RandomOperands host(p, random);
      if (op == &kSpmmUpdate) host.leave_out(runtime::kUpdateZ);
      const OnDevice first(p, host), second(p, host), third(p, host);
      const Stream streams[2];
      REQUIRE(runtime::run(*plan, *op, first.operands()));
      require(cudaDeviceSynchronize());
      Graph graph;
      require(cudaStreamBeginCapture(streams[0].get(), cudaStreamCaptureModeGlobal));
      const Status status = runtime::run(*plan, *op, second.operands(), streams[0].get());
      require(cudaStreamEndCapture(streams[0].get(), &graph.graph));
      REQUIRE(status);
      require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
      require(cudaGraphLaunch(graph.executable, streams[0].get()));
      const std::size_t bytes = workspace_bytes(*plan);
      const DeviceBytes workspace(bytes + 256);
      require(cudaMemset(workspace.get(), 0, bytes));
      require(cudaDeviceSynchronize());
      runtime::Operands beside = third.operands();
      beside.workspace = workspace.get();
      beside.workspace_size = bytes;
      REQUIRE(runtime::run(*plan, *op, beside, streams[1].get()));
      require(cudaDeviceSynchronize());
      CHECK(first.result() == second.result());
      CHECK(first.result() == third.result());
      if (bytes == 0) continue;
      beside.workspace_size = bytes - 1;
      CHECK(runtime::run(*plan, *op, beside).error().code == Errc::usage);
    }
}

TEST_CASE("cuda update: NaN in a row of B reaches the rows that use it, in W its column") {
  Random random(54);
  const formats::Csr a = random_matrix(200, 90, 0.05, DType::f32, random);
  for (const DeviceKernel& row : runnable_kernels(kSpmmUpdate)) {
    if (row.kernel != "cuda.csr.update" && row.kernel != "cuda.csr.update2") continue;
    CAPTURE(label(row));
    const OperationProblem p{kSpmmUpdate, a, 40, types_of(row), {.m = 24}};
    const auto plan = planned(row, p, format_matrix(a, "csr"));
    if (plan == nullptr) continue;
    RandomOperands host(p, random);
    host.set(runtime::kUpdateB, 4, 3, NAN);
    host.set(runtime::kUpdateW, 5, 2, NAN);
    OnDevice device(p, host);
    REQUIRE(runtime::run(*plan, p.op, device.operands()));
    device.fetch();
    for (std::int64_t r = 0; r < a.rows; ++r) {
      bool uses = false;
      for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) uses = uses || a.col_idx[k] == 4;
      for (std::int64_t j = 0; j < 24; ++j)
        CHECK(std::isnan(host.at(runtime::kUpdateC, r, j)) == (uses || j == 2));
    }
  }
}

TEST_CASE("cuda update: both ways are predicted, with constants of their own or of what they are made of") {
  Random random(56);
  const formats::Csr a = random_matrix(500, 400, 0.1, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr"), bittcf = format_matrix(a, "bittcf");
  const std::vector<runtime::PlanMatrix> matrices = {csr.matrix(), bittcf.matrix()};
  const runtime::PlanOptions options{.n = 64, .device = runtime::Device::cuda};
  const auto list = runtime::predict_product(kSpmmUpdate, matrices, options);
  REQUIRE_MESSAGE(list.has_value(), list.error().message);
  CHECK(list->size() == 3);
  for (const runtime::Candidate& candidate : *list) {
    CAPTURE(candidate.kernel->name);
    CHECK(candidate.refused.empty());
    REQUIRE(candidate.predicted_us);
    CHECK(*candidate.predicted_us > 1);
    CHECK(*candidate.predicted_us < 1000);
  }
}

TEST_CASE("cuda update: weights that do not fit are refused by name, and served in two launches") {
  Random random(55);
  const formats::Csr a = random_matrix(100, 100, 0.1, DType::f32, random);
  const Formatted formatted = format_matrix(a, "csr");
  runtime::PlanOptions options{.n = 1024, .device = runtime::Device::cuda};
  const auto plan = runtime::plan_product(kSpmmUpdate, formatted.matrix(), options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  CHECK(kernel_name(**plan) == "cuda.csr.update2");
  options.kernel = "cuda.csr.update";
  const auto refused = runtime::plan_product(kSpmmUpdate, formatted.matrix(), options);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message.find("bytes of shared memory") != std::string::npos);
}
