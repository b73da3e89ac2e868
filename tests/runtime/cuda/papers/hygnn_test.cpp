// The code of HyGNN's own kernel and of those without one of its tricks, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/papers/hygnn/hygnn.cu"
#pragma GCC diagnostic pop

#include "formats/convert/hc_window.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;

namespace {

std::vector<DeviceKernel> paper_kernels() {
  std::vector<DeviceKernel> all;
  for (const auto family : {
#ifdef SPTILE_ABLATIONS
           runtime::cuda::hygnn_plain_load_kernels, runtime::cuda::hygnn_global_edges_kernels,
           runtime::cuda::hygnn_fixed_32_kernels,
#endif
           runtime::cuda::hygnn_kernels})
    for (const DeviceKernel& row : family()) all.push_back(row);
  return all;
}

struct Case {
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  std::int64_t planned_n = 0;
};

void check_product(const DeviceKernel& kernel, const formats::Csr& source, const Case& c, Random& random,
                   const formats::HcSelector& selector = formats::kHcFitted) {
  const auto order = c.permuted ? random_order(source.rows, random) : std::vector<std::int32_t>{};
  const formats::Csr a =
      c.permuted ? formats::permute_rows(source.view(), order) : formats::copy(source.view());
  CAPTURE(selector.constant);
  const auto data = formats::hc_window_from_csr_at(a.view(), formats::hc_parameter(selector), nullptr);
  REQUIRE(data);
  check_emulated_product(
      kernel,
      {.exact = source,
       .format = data->view(),
       .order = order,
       .n = c.n,
       .pad = c.pad,
       .alpha = c.alpha,
       .beta = c.beta,
       .device = emulated_device(),
       .scratch =
           [](const runtime::cuda::ScheduleHeader&) { return std::vector<runtime::cuda::ScheduleScratch>{}; },
       .planned_n = c.planned_n},
      random);
}

}  // namespace

TEST_CASE("hygnn kernels: windows of every kind, any number of columns and leading dimension") {
  Random random(1);
  for (const DeviceKernel& kernel : paper_kernels()) {
    const formats::Csr a = mixed_windows(75, 90, kernel.values, random);
    for (const std::int64_t n : {8, 32, 47, 64, 128, 264}) check_product(kernel, a, {.n = n}, random);
    for (const auto& [n, pad] : kRagged)
      check_product(kernel, a, {.n = n, .pad = pad, .permuted = true, .alpha = 2, .beta = -1}, random);
  }
}

TEST_CASE("hygnn kernels: all windows on one kind of core, more entries than shared memory has") {
  Random random(2);
  for (const DeviceKernel& kernel : paper_kernels()) {
    const formats::Csr a = uneven_matrix(75, 1400, kernel.values, random);
    for (const formats::HcSelector& selector : {formats::kHcAllTensor, formats::kHcAllCuda})
      for (const std::int64_t n : {16, 40}) check_product(kernel, a, {.n = n, .beta = 2}, random, selector);
  }
}

TEST_CASE("hygnn kernels: as many threads for a row as leave the fewest idle") {
  using runtime::cuda::hygnn_threads_per_row;
  CHECK(hygnn_threads_per_row(32) == 32);
  CHECK(hygnn_threads_per_row(64) == 32);
  CHECK(hygnn_threads_per_row(47) == 16);  // the paper's example
  CHECK(hygnn_threads_per_row(40) == 8);
  CHECK(hygnn_threads_per_row(1) == 8);
}
