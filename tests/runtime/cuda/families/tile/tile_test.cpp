// The code of the tile kernels, run on the host lane by lane: schedule, decoding, fragments, stores.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/tile/bmat.cu"
#include "runtime/cuda/families/tile/tile16.cu"
#include "runtime/cuda/families/tile/tile8.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceInfo;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Schedule;
using runtime::cuda::TileHeader;

/// Kernels of libra_spmm, which tile8.cu has too, go on with rows; libra_test runs them.
int runtime::cuda::launch_rows(DType, const DenseTypes&, const CsrArrays&, const CsrHeader&, const Launch&,
                               void*) noexcept {
  return cudaErrorInvalidValue;
}

namespace {

std::vector<DeviceKernel> tile_kernels() {
  std::vector<DeviceKernel> all;
  for (const auto family :
       {runtime::cuda::bittcf_kernels, runtime::cuda::bittcf_staged_kernels, runtime::cuda::rs_tile_kernels,
        runtime::cuda::me_tcf_kernels, runtime::cuda::bmat_kernels, runtime::cuda::bmat_staged_kernels})
    for (const DeviceKernel& row : family()) all.push_back(row);
  return all;
}

std::string format_of(const DeviceKernel& kernel) {
  const std::string name(kernel.kernel.substr(5));
  return name.substr(0, name.find('.'));
}

/// Where the counters are.
std::vector<runtime::cuda::ScheduleScratch> scratch_of(const runtime::cuda::ScheduleHeader& header) {
  return {header.as<TileHeader>().scratch};
}

/// Copies happen at once in every other product, as late as they may in the others.
Schedule check_product(const DeviceKernel& kernel, const formats::Csr& a, std::int64_t n, std::int64_t pad,
                       Random& random, bool permuted, double alpha, double beta, const DeviceInfo& device) {
  const Formatted formatted = format_matrix(
      a, format_of(kernel), permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
  emulated_block.late = !emulated_block.late;
  return check_emulated_product(kernel,
                                {.exact = a,
                                 .format = formatted.data.view(),
                                 .order = formatted.order,
                                 .n = n,
                                 .pad = pad,
                                 .alpha = alpha,
                                 .beta = beta,
                                 .device = device,
                                 .scratch = scratch_of},
                                random);
}

}  // namespace

TEST_CASE("tile kernels: long windows in pieces") {
  Random random(3);
  for (const DeviceKernel& kernel : tile_kernels()) {
    if (kernel.dense != DType::f32 && kernel.values == DType::none) continue;
    const formats::Csr a = random_matrix(20, 1500, kernel.values, random,
                                         [](std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.05; });
    const std::int64_t n = size_of(kernel.dense) == 2 ? 72 : 40;  // more than one warp of any kernel has
    const Schedule schedule = check_product(kernel, a, n, 0, random, true, 2, -1, emulated_device());
    CHECK(schedule.header.as<TileHeader>().split_count > 0);
    CHECK(schedule.header.as<TileHeader>().teams == 0);
    // On a device with more warps than there is work for, those of a block share a window.
    const Schedule teams = check_product(kernel, a, 32, 0, random, false, 1, 0, emulated_device(132));
    CHECK(teams.header.as<TileHeader>().teams > teams.header.as<TileHeader>().split_count);
    if (kernel.kernel.ends_with(".mma"))  // what operands of any alignment take, staged or not
      check_product(kernel, a, 67, 1, random, true, -1, 0.5, emulated_device(132));
  }
}

TEST_CASE("tile kernels: slices of B one after the other when they do not fit in the cache") {
  Random random(5);
  DeviceInfo device = emulated_device();
  device.l2_bytes = 90 * 64 * 4;
  for (const DeviceKernel& kernel : tile_kernels()) {
    if (kernel.values == DType::none) continue;
    const Schedule schedule = check_product(kernel, uneven_matrix(75, 90, kernel.values, random), 264, 8,
                                            random, true, 1, 0, device);
    CHECK(schedule.header.as<TileHeader>().slices_together < 5);
  }
}
