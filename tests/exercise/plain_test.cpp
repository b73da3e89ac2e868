// The toy kernel, run on the host.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/plain/plain.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;

TEST_CASE("exercise: the toy kernel multiplies, rows in any order") {
  Random random(1);
  const formats::Csr source = random_matrix(75, 90, 0.1, DType::f32, random);
  const Formatted a = format_matrix(source, "csr", random_order(source.rows, random));
  const runtime::cuda::DeviceInfo device = {.capability = 90, .sm_count = 1};
  for (const runtime::cuda::DeviceKernel& kernel : runtime::cuda::plain_kernels())
    for (const std::int64_t n : {1, 40}) {
      Dense dense(source, n, DType::f32, random, 3);
      std::vector<std::byte> c = dense.c_bytes();
      const runtime::SpmmOperands product = operands(dense, c.data(), 2, n == 1 ? 0 : -1);
      const runtime::cuda::Schedule schedule = kernel.schedule({a.data.view(), n, device});
      runtime::cuda::Launch launch;
      launch.format = a.data.view();
      launch.row_order = a.order.data();
      launch.header = &schedule.header;
      launch.operands = runtime::to_operands(product);
      launch.n = n;
      launch.device = &device;
      REQUIRE(kernel.launch(launch, nullptr) == 0);
      CHECK(runtime::relative_error(source.view(), n, DType::f32, product, dense.c_bytes().data()) <=
            runtime::tolerated_error(source.view(), DType::f32));
    }
}
