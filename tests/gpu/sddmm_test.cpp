// Every instance of every SDDMM kernel for CUDA against the double reference.
#include "runtime/plan/sddmm.hpp"

#include "formats/convert/packed_positions.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/sddmm.hpp"
#include "tests/gpu/device_problem.hpp"
#include "tests/runtime/random_samples.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::SddmmOperands;
using runtime::cuda::DeviceKernel;

namespace {

struct Case {
  std::int64_t n = 1, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  bool scaled = false;
  std::size_t shift = 0;  ///< bytes of X and Y behind an aligned address; out is as many elements behind one
  std::int64_t planned_n = 0;  ///< 0: n
};

/// A copy of the operands on the device.
struct OnDevice {
  DeviceBytes x, y, out;

  OnDevice(const Samples& s, std::size_t shift)
      : x(s.x.data(), static_cast<std::size_t>(s.x.view().bytes()), shift),
        y(s.y.data(), static_cast<std::size_t>(s.y.view().bytes()), shift),
        out(s.out.data(), static_cast<std::size_t>(s.out.view().bytes()),
            shift * size_of(s.types.result) / size_of(s.types.operands)) {}

  [[nodiscard]] SddmmOperands operands(const Samples& s, const Case& c) const {
    return {x.get(), s.ldx, y.get(), s.ldy, out.get(), c.alpha, c.beta, c.scaled};
  }
};

std::shared_ptr<runtime::ProductPlan> planned(const Formatted& formatted, const DeviceKernel& row,
                                              std::int64_t n) {
  const auto plan = runtime::plan_sddmm(formatted.matrix(), options_for(row, n));
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  return *plan;
}

void check_kernel(const DeviceKernel& row, const formats::Csr& a, const Case& c, Random& random) {
  CAPTURE(label(row));
  CAPTURE(a.rows);
  CAPTURE(a.cols);
  CAPTURE(a.nnz());
  CAPTURE(c.n);
  CAPTURE(c.pad);
  const auto order = c.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{};
  const Formatted formatted = format_matrix(a, format_of(row.kernel), order);
  const auto packed = formats::packed_positions(formatted.data.view(), order);
  REQUIRE(packed);
  const runtime::DenseTypes types = types_of(row);
  Samples samples(a, c.n, types, random, c.pad);
  if (c.beta == 0)
    std::memset(samples.out.data(), 0xFF, static_cast<std::size_t>(samples.out.view().bytes()));
  const std::vector<std::byte> before = samples.out_bytes();
  const OnDevice device(samples, c.shift);
  const auto plan = planned(formatted, row, c.planned_n != 0 ? c.planned_n : c.n);
  SddmmOperands operands = device.operands(samples, c);
  operands.n = c.n;
  const Status status = runtime::run(*plan, operands);
  REQUIRE_MESSAGE(status.has_value(), status.error().message);
  require(cudaDeviceSynchronize());
  std::vector<std::byte> out = device.out.to_host();
  const double error =
      runtime::relative_error(a.view(), packed->view().as<std::int64_t>(), c.n, types,
                              samples.with(out.data(), c.alpha, c.beta, c.scaled), before.data());
  CHECK(error <= runtime::tolerated_sum_error(c.n, types) +
                     runtime::factor_error(runtime::kSddmm, row.precision, types));
  const std::size_t end = static_cast<std::size_t>(a.nnz()) * size_of(types.result);
  CHECK(std::memcmp(out.data() + end, before.data() + end, before.size() - end) == 0);
}

double skewed(std::int64_t r, std::int64_t c) {
  if (r % 7 == 0) return 0;
  if (r == 40) return 0.9;
  return (r / 8 + c / 16) % 3 == 0 ? 0.4 : 0.02;
}

}  // namespace

TEST_CASE("cuda sddmm: any number of features, padded and permuted") {
  Random random(31);
  for (const DeviceKernel& row : runnable_kernels(runtime::kSddmm))
    for (const std::int64_t n : {1, 2, 7, 8, 16, 31, 32, 33, 64, 100, 128, 200, 256, 512})
      for (const std::int64_t pad : {0, 3, 8})
        check_kernel(row, random_matrix(75, 90, DType::f32, random, skewed),
                     {.n = n, .pad = pad, .permuted = pad == 3}, random);
}

TEST_CASE("cuda sddmm: scaled by values of any type, added to what is there, at any address") {
  Random random(32);
  for (const DeviceKernel& row : runnable_kernels(runtime::kSddmm))
    for (const DType values : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64})
      for (const std::size_t shift : {0, 8})
        check_kernel(row, random_matrix(130, 60, values, random, skewed),
                     {.n = 64, .permuted = true, .alpha = -0.5, .beta = 2, .scaled = true, .shift = shift},
                     random);
}

TEST_CASE("cuda sddmm: shapes, densities and matrices without entries") {
  Random random(33);
  struct Shape {
    std::int64_t rows, cols;
    double density;
  };
  for (const DeviceKernel& row : runnable_kernels(runtime::kSddmm))
    for (const Shape s : {Shape{1, 1, 1},
                          {1, 1, 0},
                          {0, 7, 0},
                          {9, 0, 0},
                          {3, 500, 0.5},
                          {500, 3, 0.3},
                          {8, 8, 0.9},
                          {64, 64, 0.02},
                          {900, 900, 0.01},
                          {20, 4000, 0.5},
                          {3000, 40, 0.002}})
      for (const std::int64_t n : {32, 128})
        check_kernel(row, random_matrix(s.rows, s.cols, s.density, DType::f32, random), {.n = n}, random);
  for (const DeviceKernel& row : runnable_kernels(runtime::kSddmm))
    for (const std::int64_t n : {32, 128})
      check_kernel(row, mixed_windows(1003, 300, DType::f32, random), {.n = n}, random);
}

TEST_CASE("cuda sddmm: a plan serves fewer features") {
  Random random(36);
  for (const DeviceKernel& row : runnable_kernels(runtime::kSddmm))
    for (const std::int64_t n : {1, 7, 32, 200, 264})
      check_kernel(row, random_matrix(100, 300, DType::f32, random, skewed),
                   {.n = n, .pad = 3, .permuted = true, .alpha = -0.5, .beta = 2, .planned_n = 264}, random);
}

TEST_CASE("cuda sddmm: a run can be captured in a graph, and runs on several streams give the same bits") {
  Random random(34);
  for (const DeviceKernel& row : runnable_kernels(runtime::kSddmm)) {
    CAPTURE(label(row));
    const formats::Csr a = random_matrix(300, 900, DType::f32, random, skewed);
    const Formatted formatted = format_matrix(a, format_of(row.kernel));
    const auto plan = planned(formatted, row, 96);
    const Samples samples(a, 96, types_of(row), random);
    const OnDevice first(samples, 0), second(samples, 0);
    const Stream streams[2];
    Graph graph;
    require(cudaStreamBeginCapture(streams[0].get(), cudaStreamCaptureModeGlobal));
    const Status status = runtime::run(*plan, first.operands(samples, {}), streams[0].get());
    require(cudaStreamEndCapture(streams[0].get(), &graph.graph));
    REQUIRE(status);
    require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    require(cudaGraphLaunch(graph.executable, streams[0].get()));
    REQUIRE(runtime::run(*plan, second.operands(samples, {}), streams[1].get()));
    require(cudaDeviceSynchronize());
    CHECK(first.out.to_host() == second.out.to_host());
  }
}

TEST_CASE("cuda sddmm: its result goes into an SpMM plan of the same format") {
  Random random(35);
  for (const DeviceKernel& row : runnable_kernels(runtime::kSddmm)) {
    if (row.dense != DType::f32 || row.precision != runtime::Precision::fp32) continue;
    CAPTURE(label(row));
    const std::string format = format_of(row.kernel);
    const formats::Csr a = random_matrix(200, 150, DType::f32, random, skewed);
    Formatted formatted = format_matrix(a, format, random_order(a.rows, random));
    const auto sampled = planned(formatted, row, 32);
    runtime::PlanOptions options;
    options.n = 16;
    options.device = runtime::Device::cuda;
    options.refreshable = true;
    options.precision = runtime::Precision::fp32;
    const auto product = runtime::plan_spmm(formatted.matrix(), options);
    if (!product && product.error().code == Errc::unsupported) continue;
    REQUIRE_MESSAGE(product.has_value(), product.error().message);
    const Samples samples(a, 32, DType::f32, random);
    const OnDevice device(samples, 0);
    const Dense dense(a, 16, DType::f32, random);
    const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
    const DeviceBytes c(dense.c.data(), static_cast<std::size_t>(dense.c.view().bytes()));
    const Stream stream;
    REQUIRE(runtime::run(*sampled, device.operands(samples, {}), stream.get()));
    const Status refreshed =
        runtime::refresh_packed(**product, {DType::f32, device.out.get(), a.nnz()}, stream.get());
    REQUIRE_MESSAGE(refreshed.has_value(), refreshed.error().message);
    REQUIRE(
        runtime::run(**product, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc}, stream.get()));
    require(cudaStreamSynchronize(stream.get()));
    const auto packed = formats::packed_positions(formatted.data.view(), formatted.order);
    const std::vector<std::byte> out = device.out.to_host();
    formats::Csr attention = formats::permute_rows(a.view(), [&] {
      std::vector<std::int32_t> as_they_stand(static_cast<std::size_t>(a.rows));
      for (std::size_t i = 0; i < as_they_stand.size(); ++i) as_they_stand[i] = static_cast<std::int32_t>(i);
      return as_they_stand;
    }());
    for (std::int64_t k = 0; k < a.nnz(); ++k)
      attention.values.as<float>()[static_cast<std::size_t>(k)] = reinterpret_cast<const float*>(
          out.data())[packed->view().as<std::int64_t>()[static_cast<std::size_t>(k)]];
    std::vector<std::byte> result = c.to_host();
    CHECK(runtime::relative_error(attention.view(), 16, DType::f32, operands(dense, result.data())) <=
          runtime::tolerated_error(a.view(), DType::f32) +
              runtime::factor_error(runtime::kSddmm, runtime::Precision::fp32, DType::f32));
  }
}
