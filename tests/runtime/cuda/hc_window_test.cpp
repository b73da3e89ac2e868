// The code of the kernels of hc_window, run on the host lane by lane: windows in tiles and windows in rows,
// mixed in one launch.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/csr/csr.cu"
#include "runtime/cuda/families/tile/tile16.cu"
#pragma GCC diagnostic pop

#include "formats/convert/hc_window.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;
using runtime::cuda::hc_window_kernels;
using runtime::cuda::HybridHeader;
using runtime::cuda::Schedule;
using runtime::cuda::ScheduleHeader;

namespace {

const HybridHeader& parts_of(const Schedule& schedule) { return schedule.header.as<HybridHeader>(); }

/// Columns with two entries or more on average go to tensor cores.
constexpr formats::HcSelector kHalf = {-448, 512 - 1, 0};

struct Case {
  formats::HcSelector selector = kHalf;
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  int sm_count = 1;
  std::int64_t planned_n = 0;
};

Schedule check_product(const DeviceKernel& kernel, const formats::Csr& source, const Case& c,
                       Random& random) {
  const auto order = c.permuted ? random_order(source.rows, random) : std::vector<std::int32_t>{};
  const formats::Csr a =
      c.permuted ? formats::permute_rows(source.view(), order) : formats::copy(source.view());
  const auto data = formats::hc_window_from_csr_at(a.view(), formats::hc_parameter(c.selector), nullptr);
  REQUIRE(data);
  emulated_block.late = !emulated_block.late;
  return check_emulated_product(
      kernel,
      {.exact = source,
       .format = data->view(),
       .order = order,
       .n = c.n,
       .pad = c.pad,
       .alpha = c.alpha,
       .beta = c.beta,
       .device = emulated_device(c.sm_count),
       .scratch = [](const ScheduleHeader& header) -> std::vector<runtime::cuda::ScheduleScratch> {
         const auto& parts = header.as<HybridHeader>();
         return {parts.tiles.scratch, parts.rows.csr.scratch};
       },
       .planned_n = c.planned_n},
      random);
}

bool has_both(const Schedule& schedule) {
  return parts_of(schedule).tiles.item_count > 0 && parts_of(schedule).rows.csr.items() > 0;
}

/// A window in tiles and a row, each long enough to be cut.
formats::Csr long_matrix(DType values, Random& random) {
  return random_matrix(48, 1500, values, random, [](std::int64_t r, std::int64_t c) {
    if (r / 16 == 1) return 0.4;
    return r == 9 || r == 37 ? 0.5 : c % 50 == 0 ? 0.02 : 0.0;
  });
}

}  // namespace

TEST_CASE("hc_window kernel: every instance, windows of every kind in one launch") {
  Random random(1);
  for (const DeviceKernel& kernel : hc_window_kernels())
    for (const std::int64_t n : {32, 64, 128}) {
      const Schedule schedule =
          check_product(kernel, mixed_windows(75, 90, kernel.values, random),
                        {.n = n, .permuted = n == 64, .alpha = -0.5, .beta = n == 128 ? 2.0 : 0}, random);
      if (n != 64) CHECK(has_both(schedule));
    }
}

TEST_CASE("hc_window kernel: a part without work is in nobody's way") {
  Random random(3);
  for (const DeviceKernel& kernel : hc_window_kernels()) {
    const formats::Csr a = mixed_windows(75, 90, kernel.values, random);
    const Schedule tiles = check_product(kernel, a, {.selector = formats::kHcAllTensor, .beta = 1}, random);
    CHECK(parts_of(tiles).rows.csr.items() == 0);
    const Schedule rows =
        check_product(kernel, a, {.selector = formats::kHcAllCuda, .permuted = true, .beta = 1}, random);
    CHECK(parts_of(rows).tiles.item_count == 0);
    CHECK(parts_of(rows).rows.all);
    for (const auto& [m, k] : {std::pair{19, 7}, {0, 7}, {9, 0}})
      check_product(kernel, random_matrix(m, k, 0, kernel.values, random), {.n = 8, .beta = 3}, random);
  }
}

TEST_CASE("hc_window kernel: rows alone are divided as those of csr") {
  Random random(4);
  const formats::Csr a = uneven_matrix(75, 400, DType::f32, random);
  const auto data =
      formats::hc_window_from_csr_at(a.view(), formats::hc_parameter(formats::kHcAllCuda), nullptr);
  for (const std::int64_t n : {32, 64, 128, 200}) {
    const Schedule mine = hc_window_kernels()[0].schedule({data->view(), n, emulated_device()});
    const Schedule csr =
        runtime::cuda::csr_kernels()[0].schedule({formats::as_format(a.view()), n, emulated_device()});
    const auto& header = csr.header.as<runtime::cuda::CsrHeader>();
    CHECK(parts_of(mine).rows.csr.items() == header.items());
    CHECK(parts_of(mine).rows.csr.pieces == header.pieces);
    CHECK(mine.workspace_bytes == csr.workspace_bytes);
  }
}

TEST_CASE("hc_window kernel: long windows and long rows in pieces, also where operands are not aligned") {
  Random random(5);
  for (const DeviceKernel& kernel : hc_window_kernels()) {
    if (kernel.values == DType::none && kernel.dense != DType::f32) continue;
    const formats::Csr a = long_matrix(kernel.values, random);
    for (const auto& [n, pad] : {std::pair<std::int64_t, std::int64_t>{72, 8}, {72, 1}, {33, 0}}) {
      const Schedule schedule =
          check_product(kernel, a, {.n = n, .pad = pad, .permuted = false, .alpha = 2, .beta = 3}, random);
      CHECK(parts_of(schedule).tiles.split_count > 0);
      CHECK(parts_of(schedule).rows.csr.splits > 0);
    }
    const Schedule teams = check_product(kernel, a, {.n = 32, .sm_count = 132}, random);
    CHECK(parts_of(teams).tiles.teams > 0);
    CHECK(has_both(teams));
  }
}

TEST_CASE("hc_window kernel: work in rows lets tiles have wide warps") {
  Random random(7);
  const formats::Csr a = random_matrix(16 * 40, 600, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r < 16 ? 0.3 : 0.05;  // one window in tiles
  });
  const auto data = formats::hc_window_from_csr_at(a.view(), formats::hc_parameter(kHalf), nullptr);
  const Schedule schedule = hc_window_kernels()[0].schedule({data->view(), 128, emulated_device()});
  REQUIRE(has_both(schedule));
  CHECK(parts_of(schedule).tiles.variant == 2);  // 128 columns a warp, and 32 lanes a row
}

TEST_CASE("hc_window kernel: blocks of both kinds are evenly mixed") {
  for (const auto& [tiles, rows] : {std::pair{1, 1}, {1000, 3}, {3, 1000}, {123456, 7890123}}) {
    const runtime::cuda::MixedGrid grid{static_cast<std::uint32_t>(tiles + rows),
                                        static_cast<std::uint32_t>(rows), 1};
    CHECK(grid.rows_before(0) == 0);
    CHECK(grid.rows_before(grid.blocks) == grid.row_blocks);
    const std::uint32_t half = grid.rows_before(grid.blocks / 2);
    CHECK(std::abs(2.0 * half - rows) <= 2);
  }
}
