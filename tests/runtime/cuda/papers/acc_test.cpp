// Kernels that divide the windows of bittcf as Acc-SpMM does, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/tile/tile8.cu"
#include "runtime/cuda/papers/acc/acc.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/papers/divided_product.hpp"

using namespace sptile;
using namespace sptile::test;

/// Kernels of libra_spmm, which tile8.cu has too, go on with rows; libra_test runs them.
int runtime::cuda::launch_rows(DType, const DenseTypes&, const CsrArrays&, const CsrHeader&, const Launch&,
                               void*) noexcept {
  return cudaErrorInvalidValue;
}

namespace {

/// One window of many tiles, others of few and of none.
formats::Csr long_window(Random& random) {
  return random_matrix(60, 1500, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r / 8 == 3 ? 0.0 : r == 9 ? 0.95 : r < 40 ? 0.03 : 0.001;
  });
}

DividedKernels acc_kernels() {
  DividedKernels all{"bittcf", {}, long_window};
  for (const auto family : {
#ifdef SPTILE_ABLATIONS
           runtime::cuda::acc_windows_kernels, runtime::cuda::acc_balanced_kernels,
           runtime::cuda::acc_write_through_kernels,
#endif
           runtime::cuda::acc_kernels})
    for (const DeviceKernel& row : family()) all.kernels.push_back(row);
  return all;
}

}  // namespace

TEST_CASE("acc: windows that are alike stay whole, others are cut, by the degree of imbalance") {
  Random random(1);
  const formats::Csr even = uneven_matrix(75, 90, DType::f32, random), uneven = long_window(random);
  const DividedKernels all = acc_kernels();
  for (const DeviceKernel& kernel : all.kernels) {
    const bool always = kernel.kernel == runtime::cuda::kBitTcfAccBalanced,
               never = kernel.kernel == runtime::cuda::kBitTcfAccWindows;
    const TileHeader alike = all.check_product(kernel, even, {.n = 64}, random);
    CHECK((alike.item_count != 10) == always);
    CHECK(alike.teams == 0);
    const TileHeader cut = all.check_product(kernel, uneven, {.n = 128, .permuted = true}, random);
    CHECK((cut.split_count > 0) != never);
  }
}
