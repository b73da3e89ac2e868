// SDDMM as input of SpMM; the property runner tests the rest.
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

/// A copy of the operands on the device.
struct OnDevice {
  DeviceBytes x, y, out;

  explicit OnDevice(const Samples& s)
      : x(s.x.data(), static_cast<std::size_t>(s.x.view().bytes())),
        y(s.y.data(), static_cast<std::size_t>(s.y.view().bytes())),
        out(s.out.data(), static_cast<std::size_t>(s.out.view().bytes())) {}

  [[nodiscard]] SddmmOperands operands(const Samples& s) const {
    return {x.get(), s.ldx, y.get(), s.ldy, out.get()};
  }
};

std::shared_ptr<runtime::ProductPlan> planned(const Formatted& formatted, const DeviceKernel& row,
                                              std::int64_t n) {
  const auto plan = runtime::plan_sddmm(formatted.matrix(), options_for(row, n));
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  return *plan;
}

double skewed(std::int64_t r, std::int64_t c) {
  if (r % 7 == 0) return 0;
  if (r == 40) return 0.9;
  return (r / 8 + c / 16) % 3 == 0 ? 0.4 : 0.02;
}

}  // namespace

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
    const OnDevice device(samples);
    const Dense dense(a, 16, DType::f32, random);
    const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
    const DeviceBytes c(dense.c.data(), static_cast<std::size_t>(dense.c.view().bytes()));
    const Stream stream;
    REQUIRE(runtime::run(*sampled, device.operands(samples), stream.get()));
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
