// The code of the tall kernel, run on the host lane by lane: producer, barriers, consumers, pieces, stores.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/tall/tall.cu"
#include "runtime/cuda/families/tall/wgmma.cu"
#pragma GCC diagnostic pop

#include "formats/convert/tall.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Schedule;

namespace {

/// Of both ways to multiply.
const std::vector<DeviceKernel>& all_kernels() {
  static const auto all = [] {
    std::vector<DeviceKernel> kernels;
    for (const auto& some : {runtime::cuda::tall_kernels(), runtime::cuda::tall_wgmma_kernels()})
      kernels.insert(kernels.end(), some.begin(), some.end());
    return kernels;
  }();
  return all;
}

struct Case {
  int level = 0;
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  int sm_count = 1;
  std::int64_t planned_n = 0;
};

/// Where the counters are.
std::vector<runtime::cuda::ScheduleScratch> scratch_of(const runtime::cuda::ScheduleHeader& header) {
  return {header.as<runtime::cuda::TallHeader>().scratch};
}

Schedule check_product(const DeviceKernel& kernel, const formats::Csr& source, const Case& c,
                       Random& random) {
  CAPTURE(c.level);
  const auto order = c.permuted ? random_order(source.rows, random) : std::vector<std::int32_t>{};
  const formats::Csr a =
      c.permuted ? formats::permute_rows(source.view(), order) : formats::copy(source.view());
  const auto data = formats::tall_from_csr_at(a.view(), c.level, {}, nullptr);
  REQUIRE(data);
  formats::FormatView view = data->view();
  // Copies come in pieces of 16 bytes from aligned arrays, as on the device; what comes along is readable.
  std::vector<std::vector<std::max_align_t>> arrays;
  for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(view.arrays[i].bytes());
    arrays.emplace_back(bytes / sizeof(std::max_align_t) + 2);
    auto* const to = reinterpret_cast<std::byte*>(arrays.back().data());
    if (bytes > 0) std::memcpy(to, view.arrays[i].data, bytes);
    if (view.arrays[i].present()) view.arrays[i].data = to;
  }

  return check_emulated_product(kernel,
                                {.exact = source,
                                 .format = view,
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

}  // namespace

TEST_CASE("tall kernels: every instance multiplies an uneven matrix, at every height") {
  Random random(1);
  for (const DeviceKernel& kernel : all_kernels())
    for (int level = 0; level < 4; ++level)
      for (const std::int64_t n : {32, 72})
        check_product(kernel, uneven_matrix(75, 90, kernel.values, random),
                      {.level = level, .n = n, .permuted = n == 72}, random);
}

TEST_CASE("tall kernels: long windows in pieces") {
  Random random(3);
  for (const DeviceKernel& kernel : all_kernels()) {
    if (kernel.dense != DType::f32 && kernel.values == DType::none) continue;
    const formats::Csr a = random_matrix(140, 800, kernel.values, random,
                                         [](std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.03; });
    for (const int level : {0, 3}) {
      const Schedule schedule = check_product(
          kernel, a, {.level = level, .n = 40, .permuted = true, .alpha = 2, .beta = -1, .sm_count = 16},
          random);
      CHECK(schedule.workspace_bytes > 0);
    }
  }
}
