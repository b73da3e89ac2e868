// The code of the SDDMM kernels, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/sddmm/csr.cu"
#include "runtime/cuda/sddmm/direct.cu"
#include "runtime/cuda/sddmm/tile16.cu"
#include "runtime/cuda/sddmm/tile8.cu"
#pragma GCC diagnostic pop

#include "formats/convert/packed_positions.hpp"
#include "formats/layout/blocks.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/sddmm.hpp"
#include "tests/runtime/cuda/emulated_heads.hpp"
#include "tests/runtime/cuda/nonfinite_operands.hpp"
#include "tests/runtime/random_samples.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceInfo;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;

namespace {

std::vector<DeviceKernel> sddmm_kernels() {
  std::vector<DeviceKernel> all;
  for (const auto family : {runtime::cuda::csr_sddmm_kernels, runtime::cuda::csr_sddmm_direct_kernels,
                            runtime::cuda::bittcf_sddmm_kernels, runtime::cuda::rs_tile_sddmm_kernels,
                            runtime::cuda::libra_spmm_sddmm_kernels, runtime::cuda::libra_sddmm_sddmm_kernels,
                            runtime::cuda::me_tcf_sddmm_kernels, runtime::cuda::hc_window_sddmm_kernels,
                            runtime::cuda::bmat_sddmm_kernels})
    for (const DeviceKernel& row : family()) all.push_back(row);
  return all;
}

std::string format_of(const DeviceKernel& kernel) {
  const std::string name(kernel.kernel.substr(5));
  return name.substr(0, name.find('.'));
}

struct Problem {
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  bool scaled = false;
  DeviceInfo device = emulated_device();
  std::int64_t planned_n = 0;
  bool nonfinite = false;  ///< X and Y have NaN, infinity and the largest numbers
};

/// Fills with NaN what no result depends on. p.nonfinite: four of five rows of X have one infinity, NaN or
/// largest factor. Half of the rows of Y are numbers that are exact in any precision, so that their rests are
/// zero: halves and zeros.
void poison(Samples& samples, const formats::Csr& a, const DeviceKernel& kernel, const Problem& p) {
  const DenseRows x{samples.x, p.n, samples.ldx}, y{samples.y, p.n, samples.ldy};
  poison_unused(x, row_counts(a));
  poison_unused(y, column_counts(a));
  if (!p.nonfinite) return;
  const double special[] = {kInfinity, -kInfinity, kNaN, largest_factor(kernel)};
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (r % 5 < 4) x.set(r, 7 * r % p.n, special[r % 5]);
  for (std::int64_t c = 0; c < a.cols; ++c)
    for (std::int64_t j = 0; c % 4 < 2 && j < p.n; ++j) y.set(c, j, 0.5 * static_cast<double>(c % 4));
}

void check_samples(const DeviceKernel& kernel, const formats::Csr& a, const Problem& p, Random& random) {
  CAPTURE(kernel.kernel);
  const runtime::DenseTypes types = types_of(kernel);
  CAPTURE(name_of(types.operands));
  CAPTURE(name_of(types.result));
  CAPTURE(static_cast<int>(kernel.precision));
  CAPTURE(a.rows);
  CAPTURE(p.n);
  CAPTURE(p.pad);
  const auto order = p.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{};
  const Formatted formatted = format_matrix(a, format_of(kernel), order);
  const auto packed = formats::packed_positions(formatted.data.view(), order);
  REQUIRE(packed);
  Samples samples(a, p.n, types, random, p.pad);
  poison(samples, a, kernel, p);
  const std::vector<std::byte> before = samples.out_bytes();
  std::vector<std::byte> out = before;
  const formats::FormatView formatted_view = formatted.data.view();
  const Schedule schedule =
      stored_schedule(kernel, {formatted_view, p.planned_n != 0 ? p.planned_n : p.n, p.device});
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  if (!schedule.bytes.empty()) std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  Launch launch;
  launch.format = formatted.data.view();
  launch.row_order = formatted.order.empty() ? nullptr : formatted.order.data();
  launch.schedule = reinterpret_cast<const std::byte*>(bytes.data());
  launch.header = &schedule.header;
  launch.operands = runtime::to_operands(samples.with(out.data(), p.alpha, p.beta, p.scaled));
  launch.n = p.n;
  launch.device = &p.device;
  CHECK(kernel.launch(launch, nullptr) == 0);
  CHECK_FALSE(EmulatedWarp::diverged);

  const double error =
      runtime::relative_error(a.view(), packed->view().as<std::int64_t>(), p.n, types,
                              samples.with(out.data(), p.alpha, p.beta, p.scaled), before.data());
  CHECK(error <= runtime::tolerated_sum_error(p.n, types) + product_error(kernel.precision));
  const std::size_t end = static_cast<std::size_t>(a.nnz()) * size_of(types.result);
  CHECK(std::memcmp(out.data() + end, before.data() + end, before.size() - end) == 0);
}

}  // namespace

TEST_CASE("sddmm kernels: work in many pieces, many empty rows") {
  Random random(4);
  for (const DeviceKernel& kernel : sddmm_kernels()) {
    const formats::Csr a = random_matrix(20, 1500, DType::f32, random,
                                         [](std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.05; });
    check_samples(kernel, a, {.n = 20}, random);
    check_samples(kernel, a, {.n = 20, .permuted = true, .device = emulated_device(132)}, random);
    const formats::Csr sparse = random_matrix(
        400, 30, DType::f32, random, [](std::int64_t r, std::int64_t) { return r % 90 == 0 ? 0.5 : 0.0; });
    check_samples(kernel, sparse, {.n = 32}, random);
  }
}

TEST_CASE("sddmm kernels: windows of every kind, so that entries are in tiles and in rows") {
  Random random(7);
  for (const DeviceKernel& kernel : sddmm_kernels()) {
    const formats::Csr a = mixed_windows(75, 90, DType::f32, random);
    const Formatted formatted = format_matrix(a, format_of(kernel));
    const formats::Blocks blocks = formats::blocks_of(formatted.data.view());
    if (format_of(kernel) == "hc_window") CHECK((blocks.tiles() > 0 && !blocks.rows.columns.empty()));
    for (const auto& [n, pad] : {std::pair<std::int64_t, std::int64_t>{32, 0}, {17, 1}, {128, 0}})
      check_samples(kernel, a, {.n = n, .pad = pad, .permuted = n == 17, .alpha = 2, .beta = -1}, random);
  }
}
