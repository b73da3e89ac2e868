// Updates in graphs and on a caller's workspace, their prediction and refusals; the property runner tests the
// rest.
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

}  // namespace

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
      runtime::Operands interleaved = third.operands();
      interleaved.workspace = workspace.get();
      interleaved.workspace_size = bytes;
      REQUIRE(runtime::run(*plan, *op, interleaved, streams[1].get()));
      require(cudaDeviceSynchronize());
      CHECK(first.result() == second.result());
      CHECK(first.result() == third.result());
      if (bytes == 0) continue;
      interleaved.workspace_size = bytes - 1;
      CHECK(runtime::run(*plan, *op, interleaved).error().code == Errc::usage);
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
