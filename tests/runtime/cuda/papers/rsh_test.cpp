// Kernels that take the windows and pieces of rs_tile as they are stored, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/papers/rsh/rsh.cu"
#include "runtime/cuda/tile/tile8.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Schedule;
using runtime::cuda::TileHeader;

/// Kernels of libra_spmm, which tile8.cu has too, go on with rows; libra_test runs them.
int runtime::cuda::launch_rows(DType, const DenseTypes&, const CsrArrays&, const CsrHeader&, const Launch&,
                               void*) noexcept {
  return cudaErrorInvalidValue;
}

namespace {

std::vector<DeviceKernel> rsh_kernels() {
  std::vector<DeviceKernel> all;
  for (const auto family : {runtime::cuda::rsh_runs_kernels, runtime::cuda::rsh_kernels})
    for (const DeviceKernel& row : family()) all.push_back(row);
  return all;
}

struct Case {
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  std::int64_t planned_n = 0;
};

TileHeader check_product(const DeviceKernel& kernel, const formats::Csr& a, const Case& c, Random& random) {
  const Formatted formatted =
      format_matrix(a, "rs_tile", c.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
  emulated_block.late = !emulated_block.late;
  const Schedule schedule = check_emulated_product(
      kernel,
      {.exact = a,
       .format = formatted.data.view(),
       .order = formatted.order,
       .n = c.n,
       .pad = c.pad,
       .alpha = c.alpha,
       .beta = c.beta,
       .device = emulated_device(),
       .scratch =
           [](const runtime::cuda::ScheduleHeader& header) {
             return std::vector<runtime::cuda::ScheduleScratch>{header.as<TileHeader>().scratch};
           },
       .planned_n = c.planned_n},
      random);
  return schedule.header.as<TileHeader>();
}

/// One window that is stored in pieces, others with short rows and with empty ones.
formats::Csr split_window(Random& random) {
  return random_matrix(220, 1500, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 9 ? 0.9 : r % 3 == 0 ? 0.0 : 0.002;
  });
}

}  // namespace

TEST_CASE("rsh: windows in stored pieces, short rows and empty rows") {
  Random random(1);
  const formats::Csr a = split_window(random);
  for (const DeviceKernel& kernel : rsh_kernels())
    for (const std::int64_t n : {32, 64, 128}) {
      const TileHeader header = check_product(kernel, a, {.n = n, .alpha = 2, .beta = -1}, random);
      CHECK(header.split_count == 1);
      CHECK(header.short_count > 0);
    }
}

TEST_CASE("rsh: any number of columns, any leading dimension") {
  Random random(2);
  for (const DeviceKernel& kernel : rsh_kernels())
    for (const auto& [n, pad] : kRagged)
      check_product(kernel, n == 17 ? split_window(random) : uneven_matrix(29, 40, DType::f32, random),
                    {.n = n, .pad = pad, .permuted = true, .alpha = -0.5, .beta = 2}, random);
}

TEST_CASE("rsh: a plan for many columns serves few") {
  Random random(3);
  const formats::Csr a = split_window(random);
  const Formatted formatted = format_matrix(a, "rs_tile");
  for (const DeviceKernel& kernel : rsh_kernels()) {
    for (const auto& [planned, n] : kFewer)
      check_product(kernel, a, {.n = n, .pad = 8, .alpha = 2, .beta = -1, .planned_n = planned}, random);
    for (const std::int64_t n : {8, 32, 64, 72, 128, 200, 264, 1000})
      check_least_n(kernel, formatted.data.view(), n, emulated_device());
  }
}

TEST_CASE("rsh: matrices without rows, columns or entries") {
  Random random(4);
  for (const DeviceKernel& kernel : rsh_kernels())
    for (const auto& [m, k] : {std::pair{19, 7}, {0, 7}, {9, 0}, {1, 1}})
      check_product(kernel, random_matrix(m, k, m == 1 ? 1 : 0, DType::f32, random), {.n = 8, .beta = 3},
                    random);
}
