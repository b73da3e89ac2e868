// The toy kernel, run on the host.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/plain/plain.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;

TEST_CASE("exercise: the toy kernel multiplies, rows in any order") {
  Random random(1);
  for (const runtime::cuda::DeviceKernel& kernel : runtime::cuda::plain_kernels())
    for (const std::int64_t n : {1, 40}) {
      const formats::Csr source = uneven_matrix(75, 90, DType::f32, random);
      const Formatted a = format_matrix(source, "csr", random_order(source.rows, random));
      check_emulated_product(kernel,
                             {.exact = source,
                              .format = a.data.view(),
                              .order = a.order,
                              .n = n,
                              .pad = 3,
                              .alpha = 2,
                              .beta = n == 1 ? 0 : -1.0,
                              .device = emulated_device(),
                              .scratch =
                                  [](const runtime::cuda::ScheduleHeader&) {
                                    return std::vector<runtime::cuda::ScheduleScratch>();
                                  }},
                             random);
    }
}
