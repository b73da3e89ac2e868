// The code of attention on tiles, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/attention/tiles.cu"
#pragma GCC diagnostic pop

#include "formats/convert/packed_positions.hpp"
#include "runtime/operation/attention.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"
#include "tests/runtime/head_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Score;
using runtime::Variant;
using runtime::cuda::DeviceInfo;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;
using runtime::cuda::TileAttentionHeader;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Weights are rounded to the type of the operands, or to tf32, as are the factors of scores.
double product_rounding(runtime::Precision precision) {
  switch (precision) {
    case runtime::Precision::tf32:
      return 2e-3;
    case runtime::Precision::fp16:
      return 1e-3;
    default:
      return 8e-3;
  }
}

void check(const DeviceKernel& kernel, HeadProblem& p, const std::vector<std::int32_t>& order = {},
           const DeviceInfo& device = emulated_device()) {
  CAPTURE(name_of(kernel.dense));
  CAPTURE(static_cast<int>(p.variant().score));
  CAPTURE(p.n());
  CAPTURE(p.variant().m);
  CAPTURE(p.variant().heads);
  const Formatted formatted = format_matrix(p.matrix(), "bmat", order);
  const auto packed = formats::packed_positions(formatted.data.view(), order);
  REQUIRE(packed);
  const formats::FormatView view = formatted.data.view();
  const Schedule schedule = kernel.schedule({view, p.n(), device, {}, p.variant()});
  const auto& header = schedule.header.as<TileAttentionHeader>();
  std::vector<double> workspace(schedule.workspace_bytes / sizeof(double) + 2, 1e30);
  std::fill_n(reinterpret_cast<unsigned*>(workspace.data()), header.split_count * p.variant().heads, 0U);
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  if (!schedule.bytes.empty()) std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  Launch launch;
  launch.format = with_addresses(view);
  launch.row_order = formatted.order.empty() ? nullptr : formatted.order.data();
  launch.schedule = reinterpret_cast<const std::byte*>(bytes.data());
  launch.workspace = reinterpret_cast<std::byte*>(workspace.data());
  launch.header = &schedule.header;
  launch.operands = p.operands();
  launch.n = p.n();
  launch.sizes = p.run_sizes();
  launch.variant = p.variant();
  launch.device = &device;
  CHECK(kernel.launch(launch, nullptr) == 0);
  CHECK_FALSE(EmulatedWarp::diverged);
  CHECK_FALSE(memory_order.violated);
  CHECK(p.error(packed->view().as<std::int64_t>()) <= p.tolerance() + product_rounding(kernel.precision));
  CHECK(p.gaps_are_untouched());
  const auto* const counters = reinterpret_cast<const unsigned*>(workspace.data());
  CHECK(std::all_of(counters, counters + header.split_count * p.variant().heads,
                    [](unsigned x) { return x == 0; }));
}

HeadProblem problem(const DeviceKernel& kernel, const formats::Csr& a, const Variant& variant, std::int64_t n,
                    const HeadLayout& layout, Random& random) {
  return {runtime::kAttention, a, variant, n, types_of(kernel), layout, random};
}

std::span<const DeviceKernel> kernels() { return runtime::cuda::bmat_attention_kernels(); }

}  // namespace

TEST_CASE("attention on tiles: without bias and statistics, with masks, with rows that are masked") {
  Random random(2);
  for (const DeviceKernel& kernel : kernels()) {
    const formats::Csr a = uneven_matrix(40, 50, DType::f32, random);
    HeadProblem plain = problem(kernel, a, {.m = 32}, 32, {}, random);
    plain.leave_out(runtime::kAttentionBias);
    plain.leave_out(runtime::kAttentionStatistics);
    check(kernel, plain);
    for (const double share : {0.4, 1.0}) {
      HeadProblem masked = problem(kernel, a, {.m = 32}, 32, {.heads = 2}, random);
      masked.sprinkle(runtime::kAttentionBias, share, kNone, random);
      check(kernel, masked);
    }
  }
}

TEST_CASE("attention on tiles: scores that no exponential holds") {
  Random random(3);
  for (const DeviceKernel& kernel : kernels()) {
    const formats::Csr a = uneven_matrix(40, 50, DType::f32, random);
    HeadProblem p = problem(kernel, a, {.m = 32}, 32, {}, random);
    p.scale(runtime::kAttentionX, 100);
    p.scale(runtime::kAttentionY, 100);
    check(kernel, p);
  }
}

TEST_CASE("attention on tiles: windows of a team, and of several, merged in order") {
  Random random(4);
  for (const DeviceKernel& kernel : kernels())
    for (const std::int64_t cols : {700, 5000}) {
      const formats::Csr a = random_matrix(40, cols, DType::none, random,
                                           [](std::int64_t r, std::int64_t) { return r == 9 ? 0.9 : 0.01; });
      HeadProblem p = problem(kernel, a, {.m = 32}, 32, {.heads = 2}, random);
      check(kernel, p, {}, emulated_device(132));
      const Formatted formatted = format_matrix(a, "bmat");
      const Schedule schedule = kernel.schedule({formatted.data.view(), 32, emulated_device(132), {}, {}});
      const auto& header = schedule.header.as<TileAttentionHeader>();
      CHECK(header.split_count > 0);
      const auto partials = schedule.workspace_bytes - static_cast<std::size_t>(header.scratch.partials_at);
      CHECK((partials > 0) == (cols == 5000));  // one team leaves nothing in memory
    }
}
