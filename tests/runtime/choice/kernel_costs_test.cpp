// Numbers of profiles on their way to the kernels that divide their work by them.
#include "runtime/choice/kernel_costs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "runtime/choice/profiles.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"
#include "tests/profile_file.hpp"

using namespace sptile;

namespace {

const runtime::Kernel& kernel_named(std::string_view name) {
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (kernel.name == name) return kernel;
  FAIL("no such kernel");
  std::abort();
}

std::map<std::string, double> costs_of(const char* lines, std::string_view kernel,
                                       runtime::Precision precision = runtime::Precision::tf32) {
  const std::string text = std::string("sptile-profile 1\ndevice cuda 90 x\n") + lines;
  const auto profile = runtime::parse_profile(text, "here");
  REQUIRE(profile);
  std::map<std::string, double> costs;
  for (const auto& [name, value] : runtime::kernel_costs(*profile, kernel_named(kernel), precision))
    costs[std::string(name)] = value;
  return costs;
}

}  // namespace

TEST_CASE("a kernel gets the numbers that it wants, of its precision or of any") {
  const char* lines =
      "number cuda.bmat.bulk any tile_cost 0.5\n"
      "number cuda.bmat.bulk any window_cost 3\n"
      "number cuda.bmat.bulk tf32 window_cost 5\n"
      "number cuda.bmat.bulk fp32 tile_cost 7\n"
      "number cuda.bmat.bulk any launch 3\n"
      "number cuda.libra_spmm.streams_fitted any occupancy_rows 9\n";
  using Costs = std::map<std::string, double>;
  CHECK(costs_of(lines, "cuda.bmat.bulk") == Costs{{"tile_cost", 0.5}, {"window_cost", 5}});
  CHECK(costs_of(lines, "cuda.bmat.voltrix") == Costs{{"tile_cost", 0.5}, {"window_cost", 5}});  // like .bulk
  CHECK(costs_of("number cuda.bmat.voltrix any tile_cost 2\nnumber cuda.bmat.bulk any window_cost 3\n",
                 "cuda.bmat.voltrix") == Costs{{"tile_cost", 2}, {"window_cost", 3}});
  CHECK(costs_of(lines, "cuda.libra_spmm.streams_fitted") == Costs{{"occupancy_rows", 9}});
  CHECK(costs_of(lines, "cuda.csr.rows").empty());
}

TEST_CASE(
    "the profile in use is asked only for kernels that want numbers; one that cannot be read is an error") {
  const test::ProfileFile broken("number no sense\n");
  const auto asked = [](std::string_view kernel) {
    return runtime::find_kernel_costs({.capability = 90}, kernel_named(kernel), runtime::Precision::tf32);
  };
  CHECK(asked("cuda.csr.rows").has_value());
  REQUIRE_FALSE(asked("cuda.bmat.bulk").has_value());
  CHECK(asked("cuda.bmat.bulk").error().code == Errc::bad_input);
}

TEST_CASE("built-in profiles have constants of each CUDA kernel that plans choose by them") {
  ::unsetenv("SPTILE_PROFILE");
  ::setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  const std::string_view chosen[] = {"spmm", "sddmm", "spmm_update", "update_gradient", "softmax_rows"};
  for (const std::string_view device : {"NVIDIA H100 80GB HBM3", "NVIDIA H200"}) {
    const auto profile = runtime::find_profile({runtime::Device::cuda, 90, std::string(device)});
    REQUIRE((profile && *profile));
    for (const runtime::Kernel& kernel : runtime::kernels()) {
      if (kernel.device != runtime::Device::cuda || kernel.by_name || !kernel.like.empty() ||
          !std::ranges::count(chosen, kernel.op->name))
        continue;
      CAPTURE(device);
      CAPTURE(kernel.name);
      CHECK(std::ranges::count((*profile)->numbers, kernel.name, &runtime::ProfileNumber::kernel) > 0);
    }
  }
}

TEST_CASE("built-in profiles have numbers of existing CUDA kernels and precisions only") {
  ::unsetenv("SPTILE_PROFILE");
  ::setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  for (const std::string_view device : {"NVIDIA H100 80GB HBM3", "NVIDIA H200"}) {
    const auto profile = runtime::find_profile({runtime::Device::cuda, 90, std::string(device)});
    REQUIRE((profile && *profile));
    for (const runtime::ProfileNumber& number : (*profile)->numbers) {
      CAPTURE(device);
      CAPTURE(number.kernel);
      CAPTURE(number.precision);
      const auto instances = runtime::instances_of(kernel_named(number.kernel));
      const bool exists = std::ranges::any_of(instances, [&](const runtime::cuda::DeviceKernel& row) {
        return runtime::name_of(row.precision) == number.precision;
      });
      // Builds without CUDA have no instances.
      CHECK((exists || instances.empty() || number.precision == runtime::kAnyPrecision));
    }
  }
}
