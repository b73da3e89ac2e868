// Operands of SpMM beyond 4 GiB; the property runner tests the rest.
#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;

TEST_CASE("cuda spmm: rows of B and C beyond 4 GiB") {
  Random random(7);
  const std::int64_t stride = std::int64_t{1} << 21;
  std::size_t free = 0, total = 0;
  require(cudaMemGetInfo(&free, &total));
  for (const DeviceKernel& row : runnable_kernels()) {
    const formats::Csr a = random_matrix(600, 600, 0.02, row.values, random);
    const std::int64_t n = columns_for(row, 16);
    const runtime::DenseTypes types = types_of(row);
    const auto pitch = [&](DType type) { return static_cast<std::size_t>(stride) * size_of(type); };
    const auto width = [&](DType type) { return static_cast<std::size_t>(n) * size_of(type); };
    const std::size_t b_pitch = pitch(types.operands), c_pitch = pitch(types.result);
    if (row.dense == DType::f64 || free < 600 * (b_pitch + c_pitch) + (std::size_t{1} << 30)) continue;
    CAPTURE(label(row));
    Dense dense(a, n, types, random);
    const Formatted formatted = format_matrix(a, format_of(row.kernel));
    const auto plan = runtime::plan_spmm(formatted.matrix(), options_for(row, n));
    REQUIRE(plan);
    const DeviceBytes b(600 * b_pitch), c(600 * c_pitch);
    const std::size_t b_width = width(types.operands), c_width = width(types.result);
    require(cudaMemcpy2D(b.get(), b_pitch, dense.b.data(), b_width, b_width, 600, cudaMemcpyHostToDevice));
    REQUIRE(runtime::run(**plan, runtime::SpmmOperands{b.get(), stride, c.get(), stride}));
    require(cudaMemcpy2D(dense.c.data(), c_width, c.get(), c_pitch, c_width, 600, cudaMemcpyDeviceToHost));
    CHECK(runtime::relative_error(a.view(), n, types, operands(dense, dense.c.data())) <=
          runtime::tolerated_error(a.view(), types) +
              runtime::factor_error(runtime::kSpmm, row.precision, types));
  }
}
