// Matrix handles on a device: formats that plans share, new values for all of them, memory.
#include "runtime/handle/matrix.hpp"

#include <algorithm>
#include <thread>

#include "runtime/handle/plan.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/sddmm.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/gpu/device_problem.hpp"
#include "tests/runtime/random_samples.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Matrix;
using runtime::PlanOptions;
using Plan = std::shared_ptr<runtime::ProductPlan>;

namespace {

const PlanOptions kOptions = {.n = 1, .device = runtime::Device::cuda, .precision = runtime::Precision::fp32};

// [. 1 . . 2 / . . . . . / 3 4 . 5 .], rows turned around in bittcf; csr is stored, too
std::shared_ptr<Matrix> sample_matrix(const runtime::MatrixOptions& options) {
  const TemporaryFolder folder;
  REQUIRE(BundleSample().write(folder / "a.h5"));
  auto bundle = runtime::Bundle::open(folder / "a.h5", {.copy = true});
  REQUIRE(bundle.has_value());
  return Matrix::from_bundle(std::move(*bundle), options);
}

Plan plan_of(Matrix& matrix, std::string_view format, const runtime::Operation& op = runtime::kSpmm,
             const PlanOptions& options = kOptions) {
  auto plan = runtime::plan_matrix(matrix, op, {.formats = format}, options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  return *plan;
}

std::vector<float> product(const runtime::ProductPlan& plan) {
  const std::vector<float> b = {1, 10, 100, 1000, 10000};
  const DeviceBytes on_device(b.data(), b.size() * sizeof(float)), c(3 * sizeof(float));
  REQUIRE(runtime::run(plan, runtime::SpmmOperands{on_device.get(), 1, c.get(), 1}));
  require(cudaDeviceSynchronize());
  const std::vector<std::byte> bytes = c.to_host();
  std::vector<float> result(3);
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

const std::vector<float> kFirst = {20010, 0, 5043}, kSecond = {7060, 0, 98};
const std::vector<float> kFresh = {6, 0.7F, 8, 9, 0}, kFreshPacked = {8, 9, 0, 6, 0.7F};

ArrayView view(const std::vector<float>& values) { return ArrayView(std::span<const float>(values)); }

/// Results of small sums of these numbers may be off in their last bits.
bool near(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-5F * (1 + std::abs(b[i]))) return false;
  return a.size() == b.size();
}

}  // namespace

TEST_CASE("cuda matrix: plans of all operations share a format, which goes with the last of them") {
  const auto matrix = sample_matrix({});
  CHECK(matrix->memory().device == 0);
  std::vector<Plan> plans = {plan_of(*matrix, "bittcf")};
  const std::size_t one = matrix->memory().device;
  CHECK(one > 0);
  PlanOptions wide = kOptions;
  wide.n = 64;
  plans.push_back(plan_of(*matrix, "bittcf"));
  plans.push_back(plan_of(*matrix, "bittcf", runtime::kSpmm, wide));
  plans.push_back(plan_of(*matrix, "bittcf", runtime::kSddmm));
  CHECK(matrix->memory().device == one);
  CHECK(near(product(*plans[0]), kFirst));
  plans.push_back(plan_of(*matrix, "csr"));
  CHECK(matrix->memory().device > one);
  plans.clear();
  CHECK(matrix->memory().device == 0);
}

TEST_CASE("cuda matrix: threads that plan at once upload once") {
  const auto matrix = sample_matrix({});
  std::vector<Plan> plans(6);
  {
    std::vector<std::jthread> threads;
    for (Plan& plan : plans)
      threads.emplace_back(
          [&] { plan = *runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = "bittcf"}, kOptions); });
  }
  for (const Plan& plan : plans) {
    CHECK(plan->held == plans.front()->held);
    CHECK(near(product(*plan), kFirst));
  }
}

TEST_CASE("cuda matrix: new values reach every format, on the device and on the CPU") {
  const auto matrix = sample_matrix({.refreshable = true});
  const Plan csr = plan_of(*matrix, "csr"), bittcf = plan_of(*matrix, "bittcf"),
             made = plan_of(*matrix, "bmat");
  const auto all = [&](const std::vector<float>& expected) {
    return near(product(*csr), expected) && near(product(*bittcf), expected) &&
           near(product(*made), expected);
  };
  CHECK(all(kFirst));
  REQUIRE(matrix->refresh(view(kFresh), nullptr));
  CHECK(all(kSecond));
  const std::vector<float> first = {1, 2, 3, 4, 5};
  const DeviceBytes values(first.data(), first.size() * sizeof(float)),
      packed(kFreshPacked.data(), kFreshPacked.size() * sizeof(float));
  const Stream stream;
  REQUIRE(matrix->refresh({DType::f32, values.get(), 5}, stream.get()));
  require(cudaStreamSynchronize(stream.get()));
  CHECK(all(kFirst));
  REQUIRE(matrix->refresh_packed(*bittcf->held, {DType::f32, packed.get(), 5}, stream.get()));
  require(cudaStreamSynchronize(stream.get()));
  CHECK(all(kSecond));
  CHECK(near(product(*plan_of(*matrix, "tall")), kSecond));  // made later
  // The CPU has its own copy of the values, which a refresh out of host memory reaches as well.
  auto on_host = runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = "bittcf"}, {.n = 1});
  REQUIRE(on_host);
  REQUIRE(matrix->refresh(view(first), nullptr));
  CHECK(all(kFirst));
  const std::vector<float> b = {1, 10, 100, 1000, 10000};
  std::vector<float> c(3);
  REQUIRE(runtime::run(**on_host, runtime::SpmmOperands{.b = b.data(), .ldb = 1, .c = c.data(), .ldc = 1}));
  CHECK(c == kFirst);
}

TEST_CASE("cuda matrix: numbers of entries in CSR order, from a value_source that is stored or made") {
  Random random(8);
  const formats::Csr a = random_matrix(300, 200, 0.05, DType::f32, random);
  const Samples samples(a, 32, DType::f32, random);
  const auto entries = static_cast<std::size_t>(a.nnz());
  const CsrOnDevice device(a);
  runtime::cuda::OwnedCsr borrowed;
  borrowed.csr = device.csr;
  borrowed.borrows = true;
  const DeviceBytes x(samples.x.data(), static_cast<std::size_t>(samples.x.view().bytes())),
      y(samples.y.data(), static_cast<std::size_t>(samples.y.view().bytes()));
  const auto sampled = [&](const runtime::ProductPlan& plan, const std::vector<float>& before, double beta,
                           void* workspace) {
    const DeviceBytes out(before.data(), before.size() * sizeof(float));
    REQUIRE(runtime::run(plan, runtime::kSddmm,
                         {.dense = {{x.get(), samples.ldx}, {y.get(), samples.ldy}, {out.get(), 0}},
                          .beta = beta,
                          .workspace = workspace}));
    require(cudaDeviceSynchronize());
    const std::vector<std::byte> bytes = out.to_host();
    std::vector<float> result(entries);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  };
  std::vector<float> before(entries);
  for (std::size_t i = 0; i < entries; ++i) before[i] = static_cast<float>(i);
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const std::shared_ptr<Matrix> matrices[] = {Matrix::from_host({a.view(), nullptr}, {}),
                                                Matrix::from_device(borrowed, {}),
                                                Matrix::from_device(borrowed, {.refreshable = true})};
    if (runtime::find_kernel(runtime::kSddmm, converter.format, runtime::Device::cuda, {}) == nullptr)
      continue;
    for (const auto& matrix : matrices) {
      PlanOptions options = {.n = 32, .device = runtime::Device::cuda, .precision = runtime::Precision::fp32};
      const Plan packed = plan_of(*matrix, converter.format, runtime::kSddmm, options);
      options.order = runtime::EntryOrder::csr;
      const Plan sorted = plan_of(*matrix, converter.format, runtime::kSddmm, options);
      const Plan csr = plan_of(*matrix, "csr", runtime::kSddmm, options);
      const auto expected = sampled(*csr, before, 0, nullptr);
      const auto found = sampled(*sorted, before, 0, nullptr);
      CHECK(near(found, expected));
      auto as_packed = sampled(*packed, before, 0, nullptr), as_sorted = found;
      std::sort(as_packed.begin(), as_packed.end());
      std::sort(as_sorted.begin(), as_sorted.end());
      CHECK(as_packed == as_sorted);  // the same bits elsewhere
      const DeviceBytes workspace(std::max<std::size_t>(1, runtime::workspace_bytes(*sorted)));
      require(cudaMemset(workspace.get(), 0, runtime::workspace_bytes(*sorted)));
      auto added = expected;
      for (std::size_t i = 0; i < entries; ++i) added[i] += 2 * before[i];
      CHECK(near(sampled(*sorted, before, 2, workspace.get()), added));
    }
  }
}

TEST_CASE("cuda matrix: formats that are not stored are made on the device, from host or device memory") {
  Random random(5);
  const formats::Csr a = random_matrix(300, 200, 0.05, DType::f32, random);
  const Dense dense(a, 64, DType::f32, random);
  const CsrOnDevice device(a);
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const auto expected = run_on_device(format_matrix(a, converter.format).matrix(),
                                        {.n = 64, .device = runtime::Device::cuda}, dense);
    runtime::cuda::OwnedCsr borrowed;
    borrowed.csr = device.csr;
    borrowed.borrows = true;
    const std::shared_ptr<Matrix> matrices[] = {Matrix::from_host({a.view(), nullptr}, {}),
                                                Matrix::from_device(borrowed, {})};
    for (const auto& matrix : matrices) {
      const Plan plan =
          plan_of(*matrix, converter.format, runtime::kSpmm, {.n = 64, .device = runtime::Device::cuda});
      const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes())),
          c(expected.size());
      REQUIRE(runtime::run(*plan, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc}));
      require(cudaDeviceSynchronize());
      if (plan->matrix.format.layout->is_fitted()) continue;  // split with the threshold of the profile
      CHECK(c.to_host() == expected);
    }
  }
}

TEST_CASE("cuda matrix: a bound on its memory is kept, and says the bytes") {
  Random random(6);
  const formats::Csr a = random_matrix(300, 200, 0.05, DType::f32, random);
  const auto free_matrix = Matrix::from_host({a.view(), nullptr}, {});
  Plan plan = plan_of(*free_matrix, "csr");
  const std::size_t bytes = free_matrix->memory().device;
  const auto matrix = Matrix::from_host({a.view(), nullptr}, {.most_device_bytes = bytes});
  plan = plan_of(*matrix, "csr");
  for (const std::string_view format : {"bittcf", "tall"}) {
    const auto refused = runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = format}, kOptions);
    REQUIRE(!refused);
    CHECK(refused.error().code == Errc::device);
    CHECK(refused.error().message.find(std::to_string(bytes)) != std::string::npos);
  }
  plan.reset();
  const auto small = Matrix::from_host({a.view(), nullptr}, {.most_device_bytes = bytes / 2});
  CHECK(!runtime::plan_matrix(*small, runtime::kSpmm, {.formats = "csr"}, kOptions));
}

TEST_CASE("cuda matrix: products of several matrices in one graph") {
  Random random(7);
  const formats::Csr first = random_matrix(100, 100, 0.1, DType::f32, random),
                     second = random_matrix(100, 100, 0.2, DType::f32, random);
  const auto one = Matrix::from_host({first.view(), nullptr}, {}),
             two = Matrix::from_host({second.view(), nullptr}, {});
  const PlanOptions options = {.n = 32, .device = runtime::Device::cuda};
  const Plan a = plan_of(*one, "bittcf", runtime::kSpmm, options),
             b = plan_of(*two, "csr", runtime::kSpmm, options);
  const Dense dense(first, 32, DType::f32, random);
  const auto bytes = static_cast<std::size_t>(dense.c.view().bytes());
  const DeviceBytes x(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes())), y(bytes), z(bytes);
  const auto run_both = [&](cudaStream_t stream) {
    REQUIRE(runtime::run(*a, runtime::SpmmOperands{x.get(), dense.ldb, y.get(), dense.ldc}, stream));
    REQUIRE(runtime::run(*b, runtime::SpmmOperands{y.get(), dense.ldc, z.get(), dense.ldc}, stream));
  };
  const Stream stream;
  run_both(stream.get());
  require(cudaStreamSynchronize(stream.get()));
  const auto expected = z.to_host();
  Graph graph;
  require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  run_both(stream.get());
  require(cudaStreamEndCapture(stream.get(), &graph.graph));
  require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
  require(cudaMemset(z.get(), 0xFF, bytes));
  require(cudaGraphLaunch(graph.executable, stream.get()));
  require(cudaStreamSynchronize(stream.get()));
  CHECK(z.to_host() == expected);
}
