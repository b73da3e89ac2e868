// The code of the bulk kernel, run on the host lane by lane: producer, decoder, barriers, consumers, pieces,
// stores.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/tile/bmat.cu"
#include "runtime/cuda/papers/bulk/bulk.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Schedule;

namespace {

using runtime::cuda::BulkHeader;
using runtime::cuda::ScheduleHeader;
using runtime::cuda::ScheduleScratch;
using runtime::cuda::TileHeader;

std::vector<ScheduleScratch> scratch_of(const ScheduleHeader& header) {
  if (header.is<BulkHeader>()) return {};  // has none
  return {header.as<TileHeader>().scratch};
}

struct Case {
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  int sm_count = 1;
  std::int64_t planned_n = 0;
};

Schedule check_product(const DeviceKernel& kernel, const formats::Csr& a, const Case& c, Random& random) {
  const Formatted formatted =
      format_matrix(a, "bmat", c.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
  return check_emulated_product(kernel,
                                {.exact = a,
                                 .format = formatted.data.view(),
                                 .order = formatted.order,
                                 .n = c.n,
                                 .pad = c.pad,
                                 .alpha = c.alpha,
                                 .beta = c.beta,
                                 .device = emulated_device(c.sm_count, 90, 90 * 64 * 8),
                                 .scratch = scratch_of,
                                 .planned_n = c.planned_n},
                                random);
}

/// Parts that are not whole windows.
int cut_windows(const Schedule& schedule) {
  const auto& header = schedule.header.as<BulkHeader>();
  int count = 0;
  for (int block = 0; block < header.blocks; ++block) {
    runtime::cuda::BulkShare share;
    std::memcpy(&share, schedule.bytes.data() + header.shares_at + block * sizeof share, sizeof share);
    for (const runtime::cuda::BulkPart& part : share)
      if (part.window_begin < part.window_end &&
          part.segment_end - part.segment_begin < header.slice_segments)
        ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("bulk kernels: every instance multiplies an uneven matrix, slices in one pass and in several") {
  Random random(1);
  for (const DeviceKernel& kernel : runtime::cuda::bmat_bulk_kernels())
    for (const std::int64_t n : {72, 264})
      check_product(kernel, uneven_matrix(75, 90, kernel.values, random), {.n = n, .permuted = n == 72},
                    random);
  for (const DeviceKernel& kernel : runtime::cuda::bmat_bulk_kernels()) {
    const Schedule two = check_product(kernel, uneven_matrix(45, 40, kernel.values, random),
                                       {.n = 520, .permuted = true}, random);
    CHECK(two.header.as<BulkHeader>().slices_together == 1);
    const Schedule widest =
        check_product(kernel, uneven_matrix(45, 90, kernel.values, random), {.n = 512, .pad = 4}, random);
    CHECK(widest.header.as<BulkHeader>().slice_segments == 16);
  }
}

TEST_CASE("bulk kernels: windows whose columns several blocks share") {
  Random random(3);
  for (const DeviceKernel& kernel : runtime::cuda::bmat_bulk_kernels()) {
    const formats::Csr a = random_matrix(60, 800, kernel.values, random, [](std::int64_t r, std::int64_t) {
      return r == 9 ? 0.95 : r < 16 ? 0.05 : r < 48 ? 0.0 : 0.02;
    });
    for (const std::int64_t n : {64, 264}) {
      const Schedule many =
          check_product(kernel, a, {.n = n, .permuted = true, .alpha = 2, .beta = -1, .sm_count = 4}, random);
      CHECK(cut_windows(many) > 0);
    }
    // The last columns of the plan are none of the product; some blocks have nothing else.
    const Schedule fewer = check_product(
        kernel, a, {.n = 392, .pad = 8, .permuted = true, .beta = 1, .sm_count = 16, .planned_n = 520},
        random);
    CHECK(cut_windows(fewer) > 0);
    // Rows of B that are not aligned.
    check_product(kernel, a, {.n = 392, .pad = 1, .sm_count = 16, .planned_n = 520}, random);
    const Schedule one = check_product(kernel, a, {.n = 32, .sm_count = 8}, random);
    CHECK(cut_windows(one) == 0);
    // Columns that cannot be copied in bulk, and warps enough for teams.
    const Schedule teams = check_product(kernel, a, {.n = 17, .sm_count = 132}, random);
    CHECK(teams.header.as<TileHeader>().teams > 0);
  }
}
