// The code of the kernels of libra_spmm, run on the host lane by lane: both parts, and what adds them up.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/csr/csr.cu"
#include "runtime/cuda/families/tile/tile8.cu"
#include "runtime/cuda/papers/libra_streams/libra_streams.cu"
#pragma GCC diagnostic pop

#include "formats/convert/libra_spmm.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Schedule;

namespace {

std::vector<DeviceKernel> libra_kernels() {
  std::vector<DeviceKernel> all;
  for (const auto family : {
#ifdef SPTILE_ABLATIONS
           runtime::cuda::libra_uncut_kernels,
#endif
           runtime::cuda::libra_spmm_kernels, runtime::cuda::libra_concurrent_kernels,
           runtime::cuda::libra_sequential_kernels, runtime::cuda::libra_streams_kernels})
    for (const DeviceKernel& row : family()) all.push_back(row);
  return all;
}

using runtime::cuda::HybridHeader;
using runtime::cuda::LibraStreamsHeader;
using runtime::cuda::ScheduleHeader;
using runtime::cuda::ScheduleScratch;

/// The parts of either kind of kernel.
const HybridHeader& parts_of(const ScheduleHeader& header) {
  return header.is<HybridHeader>() ? header.as<HybridHeader>() : header.as<LibraStreamsHeader>().parts;
}

std::vector<ScheduleScratch> scratch_of(const ScheduleHeader& header) {
  return {parts_of(header).tiles.scratch, parts_of(header).rows.csr.scratch};
}

struct Case {
  int threshold = 3;
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  int sm_count = 1;
  std::int64_t planned_n = 0;
};

Schedule check_product(const DeviceKernel& kernel, const formats::Csr& source, const Case& c,
                       Random& random) {
  CAPTURE(c.threshold);
  const auto order = c.permuted ? random_order(source.rows, random) : std::vector<std::int32_t>{};
  const formats::Csr a =
      c.permuted ? formats::permute_rows(source.view(), order) : formats::copy(source.view());
  const auto data = formats::libra_spmm_from_csr_at(a.view(), c.threshold, nullptr);
  REQUIRE(data);
  emulated_block.late = !emulated_block.late;
  return check_emulated_product(kernel,
                                {.exact = source,
                                 .format = data->view(),
                                 .order = order,
                                 .n = c.n,
                                 .pad = c.pad,
                                 .alpha = c.alpha,
                                 .beta = c.beta,
                                 .device = emulated_device(c.sm_count),
                                 .scratch = scratch_of,
                                 .planned_n = c.planned_n},
                                random);
}

/// Windows of every kind: without entries, with tiles, with residual rows, with both.
formats::Csr mixed_matrix(std::int64_t rows, std::int64_t cols, DType values, Random& random) {
  return random_matrix(rows, cols, values, random, [](std::int64_t r, std::int64_t c) {
    const std::int64_t kind = r / 8 % 4;
    if (kind == 0) return 0.0;
    if (kind == 1) return c % 9 == 0 ? 0.9 : 0.0;
    if (kind == 2) return r % 3 == 0 ? 0.02 : 0.0;
    return c % 7 == 0 ? 0.7 : 0.03;
  });
}

}  // namespace

TEST_CASE("libra_spmm kernels: every instance, every kind of window, at every threshold") {
  Random random(2);
  for (const DeviceKernel& kernel : libra_kernels())
    for (const int threshold : {1, 3, 9})
      for (const double beta : {0.0, 2.0})
        check_product(
            kernel, mixed_matrix(75, 90, kernel.values, random),
            {.threshold = threshold, .n = 64, .permuted = threshold == 3, .alpha = -0.5, .beta = beta},
            random);
}

TEST_CASE("libra_spmm kernels: long windows and long residual rows in pieces") {
  Random random(4);
  for (const DeviceKernel& kernel : libra_kernels()) {
    if (kernel.dense != DType::f32) continue;
    const formats::Csr a = random_matrix(24, 1500, kernel.values, random, [](std::int64_t r, std::int64_t c) {
      if (r == 9 || r == 20) return 0.95;
      return r / 8 == 1 && c < 900 ? 0.5 : 0.02;
    });
    const Schedule schedule = check_product(kernel, a, {.n = 40, .beta = 3}, random);
    if (kernel.kernel != "cuda.libra_spmm.mma") continue;
    CHECK(parts_of(schedule.header).tiles.split_count > 0);
    CHECK(parts_of(schedule.header).rows.csr.splits > 0);
  }
}

TEST_CASE("libra_spmm kernels: rows of entries beside tiles, two slices of B at a time, in pieces") {
  Random random(9);
  for (const DeviceKernel& kernel : libra_kernels()) {
    if (kernel.dense != DType::f32 || kernel.values != DType::f32) continue;
    const formats::Csr a = random_matrix(24, 900, kernel.values, random, [](std::int64_t r, std::int64_t c) {
      if (r == 9) return 0.95;
      return r / 8 == 1 && c < 500 ? 0.5 : 0.02;
    });
    check_product(kernel, a, {.n = 256, .permuted = true, .alpha = 2, .beta = -1}, random);
    check_product(kernel, a, {.n = 256, .pad = 4, .planned_n = 512}, random);
  }
}

TEST_CASE("libra_spmm kernels: a part without work is not started") {
  Random random(5);
  const DeviceKernel& kernel = runtime::cuda::libra_spmm_kernels()[0];
  const formats::Csr a = mixed_matrix(75, 90, kernel.values, random);
  const Schedule tiles = check_product(kernel, a, {.threshold = 1}, random);
  CHECK(parts_of(tiles.header).rows.csr.items() == 0);
  const Schedule rows = check_product(kernel, a, {.threshold = 9}, random);
  CHECK(parts_of(rows.header).tiles.item_count == 0);
  for (const auto& [m, k] : {std::pair{19, 7}, {0, 7}, {9, 0}})
    check_product(kernel, random_matrix(m, k, 0, kernel.values, random), {.n = 8, .beta = 3}, random);
}

TEST_CASE("libra_spmm kernels: segments that others add to, and those that nobody else does") {
  Random random(6);
  for (const DeviceKernel& kernel : libra_kernels())
    for (const double beta : {0.0, 1.0, -2.0})
      for (const int sm_count : {1, 132}) {
        if (kernel.kernel == runtime::cuda::kLibraSpmmMma) continue;
        const formats::Csr a =
            random_matrix(48, 700, kernel.values, random, [](std::int64_t r, std::int64_t c) {
              if (r < 8) return c < 600 ? 0.5 : 0.05;        // both parts, cut
              if (r < 16) return c % 50 == 0 ? 0.8 : 0.001;  // both, not cut
              if (r < 24) return r == 20 ? 0.3 : 0.002;      // a long row alone
              return r < 32 ? 0.0 : r < 40 ? 0.003 : 0.6;    // nothing, short rows, tiles alone
            });
        const Schedule schedule = check_product(
            kernel, a,
            {.n = 36, .pad = 4, .permuted = sm_count == 1, .alpha = 2, .beta = beta, .sm_count = sm_count},
            random);
        const auto& header = schedule.header.as<LibraStreamsHeader>();
        CHECK(header.two_streams == (kernel.kernel != runtime::cuda::kLibraSequential));
        CHECK(header.scaled_rows > 0);
      }
}
