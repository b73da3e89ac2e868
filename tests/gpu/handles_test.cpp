// Several matrix handles at a time: on several devices, on several streams, in one graph; and which goes
// first.
#include <memory>

#include "runtime/handle/plan.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/runtime/transposed_bundle.hpp"
#include "tests/skip.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Matrix;
using Plan = std::shared_ptr<runtime::ProductPlan>;

namespace {

constexpr std::int64_t kColumns = 32;

Plan plan_of(Matrix& matrix, std::string_view format, int device = 0) {
  auto plan = runtime::plan_matrix(matrix, runtime::kSpmm, {.formats = format},
                                   {.n = kColumns,
                                    .device = runtime::Device::cuda,
                                    .precision = runtime::Precision::fp32,
                                    .device_ordinal = device});
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  return *plan;
}

/// Operands of one plan, in the memory of the current device.
class Operands {
 public:
  explicit Operands(const Dense& dense, std::size_t workspace = 0)
      : ldb_(dense.ldb),
        ldc_(dense.ldc),
        b_(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes())),
        c_bytes_(static_cast<std::size_t>(dense.c.view().bytes())),
        c_(c_bytes_),
        workspace_(workspace),
        workspace_bytes_(workspace) {
    require(cudaMemset(workspace_.get(), 0, workspace));
    poison();
  }
  void poison() const { require(cudaMemset(c_.get(), 0xFF, c_bytes_)); }
  void run(const runtime::ProductPlan& plan, cudaStream_t stream = nullptr) const {
    runtime::SpmmOperands operands{b_.get(), ldb_, c_.get(), ldc_};
    if (workspace_bytes_ > 0)
      operands.workspace = workspace_.get(), operands.workspace_size = workspace_bytes_;
    REQUIRE(runtime::run(plan, operands, stream));
  }
  [[nodiscard]] std::vector<std::byte> result() const { return c_.to_host(); }

 private:
  std::int64_t ldb_, ldc_;
  DeviceBytes b_;
  std::size_t c_bytes_;
  DeviceBytes c_, workspace_;
  std::size_t workspace_bytes_;
};

/// Makes a device current for a scope.
struct OnDevice {
  explicit OnDevice(int ordinal) { require(cudaSetDevice(ordinal)); }
  ~OnDevice() { cudaSetDevice(0); }
};

bool is_product(const formats::Csr& a, const Dense& dense, const std::vector<std::byte>& result) {
  return frobenius_error(a, dense, result.data(), 1, 0) <=
         frobenius_bound(runtime::Precision::fp32, DType::f32);
}

/// A sparse matrix with some rows so long that their sums come together in a workspace.
formats::Csr with_long_rows(Random& random) {
  return random_matrix(200, 6000, DType::f32, random,
                       [](std::int64_t r, std::int64_t) { return r % 50 == 0 ? 1 : 0.002; });
}

}  // namespace

TEST_CASE("cuda handles: plans of one matrix on several devices") {
  const int devices = runtime::cuda::device_count();
  if (devices < 2) return skip("plans of one matrix on several devices; there is one device");
  Random random(21), again(21);
  const formats::Csr a = random_matrix(300, 200, 0.05, DType::f32, random);
  formats::Csr fresh = random_matrix(300, 200, 0.05, DType::f32, again);  // the same, but for its values
  fresh.values = random_values(fresh.nnz(), DType::f32, random);
  const Dense dense(a, kColumns, DType::f32, random);
  const auto matrix = Matrix::from_host({a.view(), nullptr}, {.refreshable = true});
  for (const std::string_view format : {"csr", "bittcf"}) {
    std::vector<Plan> plans;
    std::vector<std::unique_ptr<Operands>> operands;
    for (int d = 0; d < devices; ++d) {
      const OnDevice current(d);
      plans.push_back(plan_of(*matrix, format, d));
      operands.push_back(std::make_unique<Operands>(dense));
    }
    const auto check_all = [&](const formats::Csr& expected) {
      for (std::size_t d = 0; d < plans.size(); ++d) operands[d]->run(*plans[d]);  // device 0 is current
      for (int d = 0; d < devices; ++d) {
        const OnDevice current(d);
        require(cudaDeviceSynchronize());
        CHECK(is_product(expected, dense, operands[static_cast<std::size_t>(d)]->result()));
      }
    };
    REQUIRE(matrix->refresh(a.values.view(), nullptr));
    check_all(a);
    REQUIRE(matrix->refresh(fresh.values.view(), nullptr));
    check_all(fresh);
    for (int d = 0; d < devices; ++d) {
      const OnDevice current(d);
      operands[static_cast<std::size_t>(d)].reset();
    }
  }
}

TEST_CASE("cuda handles: a graph of several handles' runs is replayed with new values") {
  Random random(22);
  const formats::Csr first = random_matrix(100, 100, 0.1, DType::f32, random),
                     second = random_matrix(100, 100, 0.2, DType::f32, random);
  const auto one = Matrix::from_host({first.view(), nullptr}, {.refreshable = true}),
             two = Matrix::from_host({second.view(), nullptr}, {.refreshable = true});
  const Plan plans[] = {plan_of(*one, "bittcf"), plan_of(*two, "csr"), plan_of(*one, "tall")};
  const Dense dense(first, kColumns, DType::f32, random);
  const Operands operands[] = {Operands(dense), Operands(dense), Operands(dense)};
  const Stream stream;
  const auto run_all = [&] {
    for (int i = 0; i < 3; ++i) operands[i].run(*plans[i], stream.get());
  };
  const auto results = [&] {
    require(cudaStreamSynchronize(stream.get()));
    return std::vector{operands[0].result(), operands[1].result(), operands[2].result()};
  };
  Graph graph;
  require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  run_all();
  require(cudaStreamEndCapture(stream.get(), &graph.graph));
  require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
  std::vector<std::vector<std::byte>> old;
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    for (const auto& matrix : {one, two}) {
      const formats::Array values = random_values(matrix->nnz(), DType::f32, random);
      const DeviceBytes on_device(values.data(), static_cast<std::size_t>(values.view().bytes()));
      REQUIRE(matrix->refresh({DType::f32, on_device.get(), matrix->nnz()}, stream.get()));
      require(cudaStreamSynchronize(stream.get()));
    }
    for (const Operands& one_run : operands) one_run.poison();
    require(cudaGraphLaunch(graph.executable, stream.get()));
    const auto replayed = results();
    run_all();
    CHECK(replayed == results());
    CHECK(replayed != old);
    old = replayed;
  }
}

TEST_CASE("cuda handles: plans of two handles on two streams at a time, each run with its own workspace") {
  Random random(23);
  const formats::Csr matrices[] = {with_long_rows(random), with_long_rows(random)};
  for (const std::string_view format : {"csr", "bittcf", "tall"}) {
    CAPTURE(format);
    std::vector<Plan> plans;
    std::vector<Dense> dense;
    std::vector<std::vector<std::byte>> expected;
    for (const formats::Csr& a : matrices) {
      plans.push_back(plan_of(*Matrix::from_host({a.view(), nullptr}, {}), format));
      dense.emplace_back(a, kColumns, DType::f32, random);
      const Operands alone(dense.back());
      alone.run(*plans.back());
      require(cudaDeviceSynchronize());
      expected.push_back(alone.result());
      CHECK(is_product(a, dense.back(), expected.back()));
    }
    if (format == "csr") CHECK(runtime::workspace_bytes(*plans[0]) > 0);
    const Stream streams[2];
    std::vector<std::unique_ptr<Operands>> runs;  // of plan i % 2 on stream i / 2
    for (std::size_t i = 0; i < 4; ++i)
      runs.push_back(std::make_unique<Operands>(dense[i % 2], runtime::workspace_bytes(*plans[i % 2])));
    require(cudaDeviceSynchronize());
    for (int repeat = 0; repeat < 50; ++repeat)
      for (std::size_t i = 0; i < 4; ++i) runs[i]->run(*plans[i % 2], streams[i / 2].get());
    require(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < 4; ++i) CHECK(runs[i]->result() == expected[i % 2]);
  }
}

TEST_CASE("cuda handles: plans outlive their matrix, and a matrix its plans") {
  Random random(24);
  const formats::Csr a = rectangular();
  const Dense dense(a, kColumns, DType::f32, random);
  const auto works = [&](const runtime::ProductPlan& plan) {
    const Operands operands(dense);
    operands.run(plan);
    require(cudaDeviceSynchronize());
    return is_product(a, dense, operands.result());
  };
  for (const std::string_view format : {"csr", "bittcf", "bmat"}) {  // stored, stored, made
    CAPTURE(format);
    std::vector<Plan> plans;
    {
      const TemporaryFolder folder;
      REQUIRE(write(folder / "a.h5", a.view(), {}));
      auto bundle = runtime::Bundle::open(folder / "a.h5");
      REQUIRE(bundle);
      const auto matrix = Matrix::from_bundle(std::move(*bundle), {});
      plans = {plan_of(*matrix, format), plan_of(*matrix, format)};
    }
    plans.pop_back();
    CHECK(works(*plans[0]));
    const auto matrix = Matrix::from_host({a.view(), nullptr}, {});
    plans = {plan_of(*matrix, format)};
    CHECK(matrix->memory().device > 0);
    plans.clear();
    CHECK(matrix->memory().device == 0);
    CHECK(works(*plan_of(*matrix, format)));
  }
}

TEST_CASE("cuda handles: a measured choice converts candidates, and keeps the format of the plan only") {
  Random random(27);
  const formats::Csr a = random_matrix(2000, 1500, 0.06, DType::f32, random);
  const Dense dense(a, kColumns, DType::f32, random);
  const CsrOnDevice device(a);
  const auto matrix_on_device = [&] {
    runtime::cuda::OwnedCsr borrowed;
    borrowed.csr = device.csr;
    borrowed.borrows = true;
    return Matrix::from_device(std::move(borrowed), {});
  };
  const auto choose = [](Matrix& matrix, std::string_view formats, std::int64_t n) {
    return runtime::plan_matrix(
        matrix, runtime::kSpmm, {.formats = formats},
        {.n = n, .device = runtime::Device::cuda, .choice = runtime::Choice::measured});
  };
  const auto matrix = matrix_on_device();
  const auto plan = choose(*matrix, "bittcf,csr,rs_tile,hc_window", kColumns);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  const std::string_view chosen = (*plan)->kernel->format;
  CHECK((chosen == "bittcf" || chosen == "csr" || chosen == "rs_tile" || chosen == "hc_window"));
  const Operands operands(dense);
  operands.run(**plan);
  require(cudaDeviceSynchronize());
  CHECK(frobenius_error(a, dense, operands.result().data(), 1, 0) <=
        frobenius_bound(runtime::precision_of(**plan), DType::f32));
  const auto alone = matrix_on_device();
  const Plan only = plan_of(*alone, chosen);
  CHECK(matrix->memory().device == alone->memory().device);

  const auto few = choose(*matrix, "rs_tile,csr", 1);
  REQUIRE(few.has_value());
  CHECK((*few)->kernel->format == "rs_tile");  // too little work to measure
  CHECK_FALSE(choose(*matrix, "csr,no_format", kColumns).has_value());
}

TEST_CASE("cuda handles: what runs may finish when its plan and matrix are gone") {
  Random random(25);
  const formats::Csr a = with_long_rows(random);
  const Dense dense(a, kColumns, DType::f32, random);
  const CsrOnDevice device(a);
  const Stream stream;
  for (const std::string_view format : {"csr", "bittcf", "tall"}) {
    CAPTURE(format);
    runtime::cuda::OwnedCsr borrowed;
    borrowed.csr = device.csr;
    borrowed.borrows = true;
    auto matrix = Matrix::from_device(std::move(borrowed), {});
    Plan plan = plan_of(*matrix, format);
    const Operands operands(dense);
    for (int repeat = 0; repeat < 100; ++repeat) operands.run(*plan, stream.get());
    matrix.reset();
    plan.reset();
    std::vector<std::unique_ptr<DeviceBytes>> others;  // memory that was given back would be theirs
    for (int i = 0; i < 20; ++i) {
      others.push_back(std::make_unique<DeviceBytes>(std::size_t{1} << 18));
      require(cudaMemsetAsync(others.back()->get(), 0xFF, std::size_t{1} << 18, nullptr));
    }
    require(cudaDeviceSynchronize());
    CHECK(is_product(a, dense, operands.result()));
  }
}
