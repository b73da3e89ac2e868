// The division of hc_window between tensor cores and CUDA cores; the property runner tests its products.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "formats/convert/hc_window.hpp"
#include "formats/layout/hc_rules.hpp"
#include "runtime/cuda/families/tile/hybrid_schedule.hpp"
#include "runtime/cuda/papers/hygnn/schedule.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;

TEST_CASE("hc_window: rows without tiles are divided like those of csr") {
  Random random(4);
  const formats::Csr a = random_matrix(75, 400, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 17 ? 0.9 : r % 5 == 0 ? 0.0 : 0.05;
  });
  const auto data =
      formats::hc_window_from_csr_at(a.view(), formats::hc_parameter(formats::kHcAllCuda), nullptr);
  REQUIRE(data);
  const runtime::cuda::DeviceInfo device = {.capability = 90, .sm_count = 1};
  for (const std::int64_t n : {32, 64, 128, 200}) {
    runtime::cuda::Schedule hybrid, csr;
    const auto rows = runtime::cuda::append_residual(hybrid, data->view(), DType::f32, n, device);
    const auto header = runtime::cuda::append_csr(csr, {a.view().row_ptr}, DType::f32, n, device);
    CHECK(rows.csr.items() == header.items());
    CHECK(rows.csr.pieces == header.pieces);
    CHECK(hybrid.workspace_bytes == csr.workspace_bytes);
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

TEST_CASE("hygnn update: windows that do not fit into shared memory are refused with the alternative") {
  using runtime::cuda::check_hygnn_update;
  const runtime::cuda::DeviceInfo device = {.shared_per_block = 232448, .name = "emulated"};
  CHECK(runtime::cuda::hygnn_aggregate_bytes(128) == 16 * 132 * 4);
  // 16 x (3552 + 4) numbers of 4 bytes and 4,608 bytes are 232,192 bytes.
  CHECK(check_hygnn_update(3552, 4608, device));
  const Status refused = check_hygnn_update(3553, 4608, device);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message ==
        "16 aggregated rows of 3553 columns need more than the 232448 bytes of shared memory per block of "
        "emulated; use cuda.hc_window.update2");
  CHECK_FALSE(check_hygnn_update(std::int64_t{1} << 60, 0, device));
}

TEST_CASE("hygnn gradient: every window belongs to one block, two blocks per multiprocessor at most") {
  Random random(5);
  for (const std::int64_t rows : {0, 1, 75, 1000}) {
    const formats::Csr a = random_matrix(rows, 40, 0.1, DType::f32, random);
    const auto data = formats::hc_window_from_csr(a.view(), nullptr);
    REQUIRE(data);
    const runtime::cuda::DeviceInfo device = {.capability = 90, .sm_count = 3};
    const runtime::cuda::Schedule schedule = runtime::cuda::schedule_hygnn_gradient(
        {.format = data->view(), .n = 70, .device = device, .variant = {.m = 130}});
    const auto& header = schedule.header.as<runtime::cuda::HygnnGradientHeader>();
    const std::int64_t windows = (rows + 15) / 16;
    CHECK(header.blocks <= 6);
    CHECK(std::int64_t{header.blocks} * header.windows_per_block >= windows);
    CHECK(std::int64_t{header.blocks - 1} * header.windows_per_block < std::max<std::int64_t>(windows, 1));
    // Tiles of 64 x 64 sums: 2 x 3 per block.
    CHECK(schedule.workspace_bytes >= static_cast<std::size_t>(header.blocks) * 6 * 64 * 64 * 4);
  }
}

TEST_CASE("hygnn gradient: sums that do not fit into shared memory are refused with the alternative") {
  const runtime::cuda::DeviceInfo device = {.shared_per_block = 232448, .name = "emulated"};
  constexpr runtime::cuda::HygnnGradientShape kShape = {20, 70};
  // 16 rows of Z and X of 100 and 40 elements, then 2 x 3 fragments of 16 x 32.
  CHECK(kShape.size() == 16 * (100 + 40) + 6 * 512);
  CHECK(runtime::cuda::check_hygnn_gradient({128, 256}, 4608, device));
  const Status refused = runtime::cuda::check_hygnn_gradient({256, 256}, 4608, device);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "sums of 256 x 256 weights need more than the 232448 bytes of shared memory per block of emulated; "
        "use spmm_update and update_gradient");
}

TEST_CASE("hc_window: blocks of tiles and of rows are evenly mixed") {
  for (const auto& [tiles, rows] : {std::pair{1, 1}, {1000, 3}, {3, 1000}, {123456, 7890123}}) {
    const runtime::cuda::MixedGrid grid{static_cast<std::uint32_t>(tiles + rows),
                                        static_cast<std::uint32_t>(rows), 1};
    CHECK(grid.rows_before(0) == 0);
    CHECK(grid.rows_before(grid.blocks) == grid.row_blocks);
    const std::uint32_t half = grid.rows_before(grid.blocks / 2);
    CHECK(std::abs(2.0 * half - rows) <= 2);
  }
}
