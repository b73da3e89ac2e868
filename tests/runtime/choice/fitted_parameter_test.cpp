// Thresholds and selectors that a profile has: which one goes with a product.
#include "runtime/choice/fitted_parameter.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <string>

#include "formats/layout/hc_rules.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"

using namespace sptile;
using runtime::Precision;
using runtime::SplitProduct;

namespace {

runtime::DeviceProfile profile_with(const std::string& numbers) {
  auto profile = runtime::parse_profile("sptile-profile 1\ndevice cuda 90 x\n" + numbers, "p.tsv");
  REQUIRE_MESSAGE(profile.has_value(), profile.error().text());
  return std::move(*profile);
}

SplitProduct product(Precision precision, std::int64_t n, const char* format = "libra_spmm",
                     const runtime::Operation& op = runtime::kSpmm) {
  return {runtime::best_kernel(op, format, runtime::Device::cuda), precision, n};
}

/// The threshold; 0 when the profile has none.
int found(const std::string& numbers, const SplitProduct& requested) {
  const auto fitted = runtime::fitted_parameter(profile_with(numbers), requested);
  REQUIRE_MESSAGE(fitted.has_value(), fitted.error().text());
  return *fitted ? (*fitted)->value : 0;
}

constexpr const char* kNumbers =
    "number cuda.libra_spmm.mma tf32 launch 5\n"
    "number cuda.libra_spmm.mma tf32 threshold_32 2\n"
    "number cuda.libra_spmm.mma tf32 threshold_512 7\n"
    "number cuda.libra_spmm.mma tf32 threshold_128 4\n"
    "number cuda.libra_spmm.mma any threshold_128 9\n"
    "number cuda.libra_spmm.mma fp16 threshold_128 6\n"
    "number cuda.libra_sddmm.sddmm tf32 threshold_128 129\n";

}  // namespace

TEST_CASE("fitted threshold: that of the nearest number of columns, of equals the fewer") {
  struct Nearest {
    std::int64_t n;
    int threshold;
  };
  constexpr Nearest kNearest[] = {{1, 2},   {32, 2},  {64, 2},  {65, 4},
                                  {128, 4}, {256, 4}, {257, 7}, {std::int64_t{1} << 40, 7}};
  for (const Nearest& one : kNearest) {
    CAPTURE(one.n);
    CHECK(found(kNumbers, product(Precision::tf32, one.n)) == one.threshold);
  }
  const auto fitted = runtime::fitted_parameter(profile_with(kNumbers), product(Precision::tf32, 60));
  REQUIRE((fitted && *fitted));
  CHECK((*fitted)->name == "threshold_32");
  CHECK((*fitted)->precision == "tf32");
}

TEST_CASE("fitted threshold: that of the precision, else of any, and bf16 as fp16") {
  CHECK(found(kNumbers, product(Precision::fp16, 128)) == 6);
  CHECK(found(kNumbers, product(Precision::fp32, 128)) == 9);
  CHECK(found(kNumbers, product(Precision::bf16, 128)) == 9);
  constexpr const char* kHalf = "number cuda.libra_spmm.mma fp16 threshold_128 6\n";
  CHECK(found(kHalf, product(Precision::bf16, 128)) == 6);
  CHECK(found(kHalf, product(Precision::fp32, 128)) == 0);
  CHECK(found(kHalf, product(Precision::tf32, 128)) == 0);
}

TEST_CASE("fitted threshold: of the kernel, and of formats that have thresholds") {
  CHECK(found(kNumbers, product(Precision::tf32, 32, "libra_sddmm", runtime::kSddmm)) == 129);
  CHECK(found(kNumbers, product(Precision::tf32, 32, "libra_sddmm", runtime::kSpmm)) == 0);
  CHECK(found("number cuda.bittcf.mma tf32 threshold_128 2\n", product(Precision::tf32, 128, "bittcf")) == 0);
  for (const char* const name : {"threshold_", "threshold_0", "threshold_-8", "threshold_8x", "threshold8"}) {
    CAPTURE(name);
    CHECK(found("number cuda.libra_spmm.mma tf32 " + std::string(name) + " 2\n",
                product(Precision::tf32, 8)) == 0);
  }
}

TEST_CASE("fitted threshold: numbers that are none are refused with their name") {
  for (const char* const value : {"0", "-3", "10", "2.5", "1e300", "-1e300"}) {
    CAPTURE(value);
    const auto fitted = runtime::fitted_parameter(
        profile_with("number cuda.libra_spmm.mma tf32 threshold_8 " + std::string(value) + "\n"),
        product(Precision::tf32, 8));
    REQUIRE_FALSE(fitted.has_value());
    CHECK(fitted.error().code == Errc::bad_input);
    CHECK(fitted.error().text() ==
          "p.tsv: threshold_8 of cuda.libra_spmm.mma, tf32 is not an integer from 1 to 9");
  }
}

TEST_CASE("fitted selector: numbers of hc_window have the name of its parameter") {
  runtime::Kernel kernel;
  kernel.name = "cuda.hc_window.test";
  kernel.format = "hc_window";
  const SplitProduct requested{&kernel, Precision::tf32, 100};
  constexpr const char* kNumbersOfWindows =
      "number cuda.hc_window.test tf32 selector_32 0\n"
      "number cuda.hc_window.test tf32 selector_128 656941228\n"
      "number cuda.hc_window.test tf32 threshold_100 3\n";
  const auto fitted = runtime::fitted_parameter(profile_with(kNumbersOfWindows), requested);
  REQUIRE((fitted && *fitted));
  CHECK((*fitted)->value == 656941228);
  CHECK((*fitted)->name == "selector_128");
  CHECK(found(kNumbersOfWindows, {&kernel, Precision::tf32, 33}) == 0);
  const auto refused = runtime::fitted_parameter(
      profile_with("number cuda.hc_window.test any selector_128 2147483648\n"), requested);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().text() ==
        "p.tsv: selector_128 of cuda.hc_window.test, any is not an integer from 0 to 2147483647");
}

TEST_CASE("fitted parameter: a product without a kernel has none") {
  const auto fitted = runtime::fitted_parameter(profile_with(kNumbers), {});
  REQUIRE(fitted.has_value());
  CHECK_FALSE(fitted->has_value());
}

TEST_CASE("usual product: each format's own operation, in the precision of its values") {
  const SplitProduct sampled = runtime::usual_product("libra_sddmm", DType::bf16);
  REQUIRE(sampled.kernel != nullptr);
  CHECK(sampled.kernel->name == "cuda.libra_sddmm.sddmm");
  CHECK(sampled.precision == Precision::fp16);
  CHECK(sampled.n == 128);
  for (const DType values : {DType::none, DType::f32, DType::f64}) {
    const SplitProduct multiplied = runtime::usual_product("libra_spmm", values);
    REQUIRE(multiplied.kernel != nullptr);
    CHECK(multiplied.kernel->name == "cuda.libra_spmm.mma");
    CHECK(multiplied.precision == Precision::tf32);
  }
  CHECK(runtime::usual_product("bittcf", DType::f32).kernel == nullptr);
}

TEST_CASE("fitted threshold: the built-in profile has one for libra_spmm") {
  ::unsetenv("SPTILE_PROFILE");
  ::setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  const auto profile = runtime::find_profile({runtime::Device::cuda, 90, "NVIDIA H100 80GB HBM3"});
  REQUIRE((profile && *profile));
  const auto fitted = runtime::fitted_parameter(**profile, runtime::usual_product("libra_spmm", DType::f32));
  REQUIRE((fitted && *fitted));
  CHECK((*fitted)->value >= 1);
}

TEST_CASE("fitted selector: built-in profiles have one for each N, which mixes both kinds of cores") {
  ::unsetenv("SPTILE_PROFILE");
  ::setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  for (const char* const device : {"NVIDIA H100 80GB HBM3", "NVIDIA H200"})
    for (const DType values : {DType::f32, DType::f16})
      for (const std::int64_t n : {32, 64, 128, 256}) {
        CAPTURE(device);
        CAPTURE(n);
        const auto profile = runtime::find_profile({runtime::Device::cuda, 90, device});
        REQUIRE((profile && *profile));
        SplitProduct requested = runtime::usual_product("hc_window", values);
        requested.n = n;
        const auto fitted = runtime::fitted_parameter(**profile, requested);
        REQUIRE_MESSAGE(fitted.has_value(), fitted.error().text());
        REQUIRE(*fitted);
        CHECK((*fitted)->name == runtime::fitted_name("selector", n));
        // Digits lost in the file would change the weights. All built-in fits prefer tensor cores for full
        // windows.
        const formats::HcSelector selector = formats::hc_selector((*fitted)->value);
        CHECK_FALSE(selector.settles);
        CHECK_FALSE(formats::on_cuda_cores(selector, 40, 640));
        if (n == 128) CHECK(formats::on_cuda_cores(selector, 40, 40));
      }
}
