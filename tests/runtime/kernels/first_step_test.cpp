// Kernels that refuse sizes, and kernels with another before them: which one is chosen, and what is said.
#include <doctest/doctest.h>

#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"

using namespace sptile;
using runtime::PlanOptions;

namespace {

runtime::cuda::DeviceInfo device() {
  return {.ordinal = 0,
          .capability = 90,
          .sm_count = 132,
          .l2_bytes = 50 << 20,
          .shared_per_block = 227 << 10,
          .memory = std::size_t{1} << 36,
          .name = "a device"};
}

Result<runtime::KernelChoice> chosen(PlanOptions options, std::string_view format,
                                     DType values = DType::f32) {
  options.device = runtime::Device::cuda;
  return runtime::choose_kernel({&runtime::kSpmmUpdate, format, values}, options, device());
}

std::string_view name_of_chosen(const PlanOptions& options, std::string_view format) {
  const auto found = chosen(options, format);
  return found ? found->kernel->name : std::string_view("none");
}

}  // namespace

TEST_CASE("kernels with weights: fused where they fit, else, and for every other format, two launches") {
  CHECK(name_of_chosen({.n = 64}, "csr") == "cuda.csr.update");
  CHECK(name_of_chosen({.n = 64, .variant = {.m = 100}}, "csr") == "cuda.csr.update");
  CHECK(name_of_chosen({.n = 1024}, "csr") == "cuda.csr.update2");
  CHECK(name_of_chosen({.n = 64, .variant = {.m = 4096}}, "csr") == "cuda.csr.update2");
  for (const std::string_view format :
       {"me_tcf", "bmat", "bittcf", "rs_tile", "tall", "libra_spmm", "libra_sddmm"}) {
    CAPTURE(format);
    CHECK(name_of_chosen({.n = 64}, format) == "cuda." + std::string(format) + ".update2");
  }
}

TEST_CASE("kernels with weights: a named one that cannot says what it needs and what there is") {
  const auto refused = chosen({.n = 1024, .kernel = "cuda.csr.update"}, "csr");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message ==
        "plan: cuda.csr.update: weights of 1024 x 1024 need 4460288 bytes of shared memory per block, but a "
        "device "
        "has 232448");
}

TEST_CASE("kernels with another before them need one for the values, types and precision") {
  // csr has no product of f64 values and f32 operands; the update itself would take any values.
  PlanOptions options{.n = 64, .kernel = "cuda.csr.update2"};
  CHECK(chosen(options, "csr", DType::f16).has_value());
  const auto refused = chosen(options, "csr", DType::f64);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message.find("no kernel for spmm of csr, f64 x f32") != std::string::npos);
  options.kernel = "cuda.csr.update";
  CHECK(chosen(options, "csr", DType::f64).has_value());
  options = {.n = 64, .precision = runtime::Precision::fp32};
  for (const std::string_view format : {"csr", "bittcf"}) {
    const auto exact = chosen(options, format);
    REQUIRE(exact.has_value());
    CHECK(exact->instance->precision == runtime::Precision::fp32);
  }
}

TEST_CASE("kernels with undefined results run by name only, their plans are not stored") {
  int count = 0;
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (!kernel.undefined_result) continue;
    ++count;
    CAPTURE(kernel.name);
    CHECK(kernel.by_name);
    CHECK_FALSE(kernel.deterministic);
    for (const runtime::cuda::DeviceKernel& row : runtime::instances_of(kernel)) {
      CHECK(row.store == nullptr);
      const runtime::Multiplicand a = {kernel.op, kernel.format, row.values};
      PlanOptions options{.n = 64, .dense = row.dense, .result = row.result, .kernel = kernel.name};
      options.device = runtime::Device::cuda;
      const auto refused = runtime::choose_kernel(a, options, device());
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error().message.find("--no-check") != std::string::npos);
      options.undefined_result = true;
      CHECK(runtime::choose_kernel(a, options, device()).has_value());
    }
  }
#ifdef SPTILE_ABLATIONS
  CHECK(count > 0);
#else
  CHECK(count == 0);
#endif
}
