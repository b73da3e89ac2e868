// Kernels that take the windows and pieces of rs_tile as they are stored, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/tile/tile8.cu"
#include "runtime/cuda/papers/rsh/rsh.cu"
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

/// One window that is stored in pieces, others with short rows and with empty ones.
formats::Csr split_window(Random& random) {
  return random_matrix(220, 1500, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 9 ? 0.9 : r % 3 == 0 ? 0.0 : 0.002;
  });
}

DividedKernels rsh_kernels() {
  DividedKernels all{"rs_tile", {}, split_window};
  for (const auto family : {
#ifdef SPTILE_ABLATIONS
           runtime::cuda::rsh_runs_kernels,
#endif
           runtime::cuda::rsh_kernels})
    for (const DeviceKernel& row : family()) all.kernels.push_back(row);
  return all;
}

}  // namespace

TEST_CASE("rsh: windows in stored pieces, short rows and empty rows") {
  Random random(1);
  const formats::Csr a = split_window(random);
  const DividedKernels all = rsh_kernels();
  for (const DeviceKernel& kernel : all.kernels)
    for (const std::int64_t n : {32, 64, 128}) {
      const TileHeader header = all.check_product(kernel, a, {.n = n, .alpha = 2, .beta = -1}, random);
      CHECK(header.split_count == 1);
      CHECK(header.short_count > 0);
    }
}
