// Plans for CSR matrices in device memory: the right products, and the thresholds of the device's profile.
#include "runtime/plan/from_device.hpp"

#include <functional>
#include <memory>

#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/packed_positions.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/sddmm.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/profile_file.hpp"
#include "tests/runtime/random_samples.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::PlanOptions;
using runtime::ProductPlan;
using runtime::SddmmOperands;

namespace {

double uneven(std::int64_t r, std::int64_t) { return r % 40 == 3 ? 0.5 : r % 5 == 0 ? 0.001 : 0.03; }

/// The matrix goes as soon as the plan is made.
std::shared_ptr<ProductPlan> plan_of(const runtime::Operation& op, const formats::Csr& a,
                                     std::string_view format, const PlanOptions& options,
                                     const std::vector<std::int32_t>& order = {}) {
  const auto device = std::make_unique<CsrOnDevice>(a, order);
  const auto plan = runtime::plan_from_device(op, device->csr, format, options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  return *plan;
}

/// X, Y and the result on the device.
struct SamplesOnDevice {
  DeviceBytes x, y, out;

  explicit SamplesOnDevice(const Samples& s)
      : x(s.x.data(), static_cast<std::size_t>(s.x.view().bytes())),
        y(s.y.data(), static_cast<std::size_t>(s.y.view().bytes())),
        out(s.out.data(), static_cast<std::size_t>(s.out.view().bytes())) {}

  std::vector<std::byte> run(const ProductPlan& plan, const Samples& s, bool scaled = false) const {
    const Status status =
        runtime::run(plan, SddmmOperands{x.get(), s.ldx, y.get(), s.ldy, out.get(), 1, 0, scaled});
    REQUIRE_MESSAGE(status.has_value(), status.error().text());
    require(cudaDeviceSynchronize());
    return out.to_host();
  }
};

std::vector<std::byte> product_of(const ProductPlan& plan, const Dense& dense) {
  const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
  const DeviceBytes c(dense.c.data(), static_cast<std::size_t>(dense.c.view().bytes()));
  REQUIRE(runtime::run(plan, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc}));
  require(cudaDeviceSynchronize());
  return c.to_host();
}

/// Numbers whose products and sums are exact however they are formed.
void make_exact(formats::Array& numbers) {
  int i = 0;
  for (float& x : numbers.as<float>()) x = static_cast<float>((i++ * 7) % 5 - 2);
}

bool has_kernel(const runtime::Operation& op, std::string_view format) {
  return runtime::find_kernel(op, format, runtime::Device::cuda) != nullptr;
}

/// A matrix in a format of Libra with some threshold.
Formatted split_at(const formats::Csr& a, std::string_view format, int threshold) {
  const auto at = format == "libra_spmm" ? formats::libra_spmm_from_csr_at : formats::libra_sddmm_from_csr_at;
  return format_matrix(
      a, [=](const formats::CsrView& csr, Progress* progress) { return at(csr, threshold, progress); });
}

}  // namespace

TEST_CASE("cuda plan from device CSR: the bits of a plan from the host, also refreshed and reordered") {
  const ProfileFile no_thresholds("");
  Random random(34);
  const formats::Csr a = random_matrix(500, 800, DType::f32, random, uneven);
  const Dense dense(a, 64, DType::f32, random);
  for (const bool ordered : {false, true})
    for (const formats::Converter& converter : formats::converters()) {
      CAPTURE(converter.format);
      CAPTURE(ordered);
      if (runtime::find_kernel(runtime::kSpmm, converter.format, runtime::Device::cuda) == nullptr) continue;
      const auto order = ordered ? random_order(a.rows, random) : std::vector<std::int32_t>();
      const Formatted formatted = format_matrix(a, converter.format, order);
      runtime::PlanOptions options{.n = 64, .device = runtime::Device::cuda};
      const auto expected = run_on_device(formatted.matrix(), options, dense);
      options.refreshable = true;
      const auto device = std::make_unique<CsrOnDevice>(a, order);
      const auto plan = runtime::plan_from_device(runtime::kSpmm, device->csr, converter.format, options);
      REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
      const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
      const DeviceBytes c(dense.c.data(), static_cast<std::size_t>(dense.c.view().bytes()));
      for (int repeat = 0; repeat < 2; ++repeat) {
        REQUIRE(runtime::run(**plan, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc}));
        require(cudaDeviceSynchronize());
        CHECK(c.to_host() == expected);
        require(cudaMemset(c.get(), 0xFF, expected.size()));
        REQUIRE(runtime::refresh_values(**plan, a.values.view()));
      }
    }
}

TEST_CASE("cuda plan from device CSR: segments of Libra cut on the device") {
  const ProfileFile no_thresholds("");
  Random random(38);
  formats::Csr a = random_matrix(500, 800, DType::f32, random, uneven);
  make_exact(a.values);
  Dense dense(a, 64, DType::f32, random);
  make_exact(dense.b);
  for (const char* kernel :
       {"cuda.libra_spmm.streams", "cuda.libra_spmm.sequential", "cuda.libra_spmm.concurrent"}) {
    CAPTURE(kernel);
    const PlanOptions options{.n = 64, .device = runtime::Device::cuda, .kernel = kernel};
    // Sums are exact, so the order of atomic additions does not matter.
    const auto plan = plan_of(runtime::kSpmm, a, "libra_spmm", options);
    CHECK(product_of(*plan, dense) == run_on_device(format_matrix(a, "libra_spmm").matrix(), options, dense));
  }
}

TEST_CASE("cuda plan from device CSR: sampled products, in every format and order of rows") {
  const ProfileFile no_thresholds("");
  Random random(36);
  for (const DType values : {DType::f32, DType::f16, DType::none})
    for (const bool ordered : {false, true})
      for (const formats::Converter& converter : formats::converters()) {
        CAPTURE(converter.format);
        CAPTURE(ordered);
        CAPTURE(name_of(values));
        if (!has_kernel(runtime::kSddmm, converter.format)) continue;
        const formats::Csr a = random_matrix(500, 800, values, random, uneven);
        const auto order = ordered ? random_order(a.rows, random) : std::vector<std::int32_t>();
        const Formatted formatted = format_matrix(a, converter.format, order);
        const DType dense = values == DType::f16 ? DType::f16 : DType::f32;
        const PlanOptions options{.n = 40, .dense = dense, .device = runtime::Device::cuda};
        const auto plan = plan_of(runtime::kSddmm, a, converter.format, options, order);
        const Samples samples(a, options.n, dense, random, 3);
        const SamplesOnDevice device(samples);
        const std::vector<std::byte> before = samples.out_bytes();
        std::vector<std::byte> out = device.run(*plan, samples, true);
        const auto from_host = runtime::plan_sddmm(formatted.matrix(), options);
        REQUIRE_MESSAGE(from_host.has_value(), from_host.error().text());
        CHECK(out == device.run(**from_host, samples, true));
        const auto packed = formats::packed_positions(formatted.data.view(), order);
        REQUIRE(packed);
        const double error =
            runtime::relative_error(a.view(), packed->view().as<std::int64_t>(), options.n, dense,
                                    samples.with(out.data(), 1, 0, true), before.data());
        CHECK(error <= runtime::tolerated_sum_error(options.n, dense) +
                           runtime::factor_error(runtime::kSddmm, runtime::precision_of(**from_host), dense));
      }
}

TEST_CASE("cuda plan from device CSR: what one plan samples, another one multiplies with") {
  // Of both kinds of plans, and of several numbers of columns, all must split alike.
  const ProfileFile thresholds(
      "number cuda.libra_spmm.mma tf32 threshold_16 2\n"
      "number cuda.libra_spmm.mma tf32 threshold_128 5\n"
      "number cuda.libra_spmm.sddmm tf32 threshold_32 7\n"
      "number cuda.libra_sddmm.sddmm tf32 threshold_32 100\n"
      "number cuda.libra_sddmm.sddmm tf32 threshold_128 9\n"
      "number cuda.libra_sddmm.mma tf32 threshold_16 1\n");
  Random random(37);
  const formats::Csr a = random_matrix(500, 800, DType::f32, random, uneven);
  Samples samples(a, 32, DType::f32, random);
  Dense dense(a, 16, DType::f32, random);
  for (formats::Array* numbers : {&samples.x, &samples.y, &dense.b}) make_exact(*numbers);
  std::vector<std::byte> expected;  // of csr, the first format
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    if (!has_kernel(runtime::kSddmm, converter.format) || !has_kernel(runtime::kSpmm, converter.format))
      continue;
    const auto sampled =
        plan_of(runtime::kSddmm, a, converter.format, {.n = 32, .device = runtime::Device::cuda});
    const auto product = plan_of(runtime::kSpmm, a, converter.format,
                                 {.n = 16, .device = runtime::Device::cuda, .refreshable = true});
    const SamplesOnDevice device(samples);
    device.run(*sampled, samples);
    REQUIRE(runtime::refresh_packed(*product, {DType::f32, device.out.get(), a.nnz()}, nullptr));
    const std::vector<std::byte> result = product_of(*product, dense);
    if (expected.empty()) expected = result;
    CHECK(result == expected);
  }
  REQUIRE(!expected.empty());
}

TEST_CASE("cuda plan from device CSR: split with the threshold of the profile") {
  const ProfileFile thresholds(
      "number cuda.libra_spmm.mma tf32 threshold_16 2\n"
      "number cuda.libra_spmm.mma tf32 threshold_128 9\n"
      "number cuda.libra_spmm.mma fp32 threshold_128 6\n"
      "number cuda.libra_sddmm.sddmm any threshold_512 5\n");
  struct Case {
    const runtime::Operation& op;
    std::string_view format;
    std::int64_t n;
    std::optional<runtime::Precision> precision;
    bool refreshable;
    int threshold;
  };
  const Case kCases[] = {{runtime::kSpmm, "libra_spmm", 16, {}, false, 2},
                         {runtime::kSpmm, "libra_spmm", 200, {}, false, 9},
                         {runtime::kSpmm, "libra_spmm", 16, runtime::Precision::fp32, false, 6},
                         {runtime::kSpmm, "libra_spmm", 16, {}, true, 9},
                         {runtime::kSpmm, "libra_sddmm", 16, {}, false, formats::kLibraSddmmThreshold},
                         {runtime::kSddmm, "libra_sddmm", 16, {}, false, 5},
                         {runtime::kSddmm, "libra_spmm", 16, {}, false, 9}};
  Random random(38);
  const formats::Csr a = random_matrix(500, 800, DType::f32, random, uneven);
  for (const Case& c : kCases) {
    CAPTURE(c.op.name);
    CAPTURE(c.format);
    CAPTURE(c.threshold);
    const PlanOptions options{
        .n = c.n, .device = runtime::Device::cuda, .refreshable = c.refreshable, .precision = c.precision};
    const auto plan = plan_of(c.op, a, c.format, options);
    PlanOptions same = options;
    same.refreshable = false;
    const Samples samples(a, c.n, DType::f32, random);
    const Dense dense(a, c.n, DType::f32, random);
    const auto run = [&](const ProductPlan& p) {
      return &c.op == &runtime::kSpmm ? product_of(p, dense) : SamplesOnDevice(samples).run(p, samples);
    };
    const std::vector<std::byte> result = run(*plan);
    for (const int threshold : {1, c.threshold}) {
      const Formatted split = split_at(a, c.format, threshold);
      const auto from_host = runtime::plan_product(c.op, split.matrix(), same);
      REQUIRE_MESSAGE(from_host.has_value(), from_host.error().text());
      CHECK((result == run(**from_host)) == (threshold == c.threshold));
    }
  }
}

TEST_CASE("cuda plan from device CSR: a threshold that is none is refused") {
  const ProfileFile thresholds("number cuda.libra_spmm.mma tf32 threshold_128 10\n");
  Random random(39);
  const formats::Csr a = random_matrix(50, 80, 0.1, DType::f32, random);
  const CsrOnDevice device(a);
  const PlanOptions options{.n = 8, .device = runtime::Device::cuda};
  const auto plan = runtime::plan_from_device(runtime::kSpmm, device.csr, "libra_spmm", options);
  REQUIRE_FALSE(plan.has_value());
  CHECK(plan.error().code == Errc::bad_input);
  CHECK(runtime::plan_from_device(runtime::kSpmm, device.csr, "bittcf", options).has_value());
}

TEST_CASE("cuda plan from device CSR: bad requests") {
  Random random(35);
  const formats::Csr a = random_matrix(50, 80, 0.1, DType::f32, random);
  const CsrOnDevice device(a);
  runtime::PlanOptions options{.n = 8, .device = runtime::Device::cuda};
  CHECK(runtime::plan_from_device(runtime::kSpmm, device.csr, "nothing", options).error().code ==
        Errc::usage);
  options.n = 0;
  CHECK(runtime::plan_from_device(runtime::kSpmm, device.csr, "csr", options).error().code == Errc::usage);
  options.n = 8;
  options.device = runtime::Device::cpu;
  CHECK(runtime::plan_from_device(runtime::kSpmm, device.csr, "csr", options).error().code == Errc::usage);
  options.device = runtime::Device::cuda;
  CHECK(runtime::plan_from_device(runtime::kSddmm, device.csr, "tall", options).error().code ==
        Errc::unsupported);
}
