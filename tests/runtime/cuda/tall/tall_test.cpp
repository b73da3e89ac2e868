// The code of the tall kernel, run on the host lane by lane: producer, barriers, consumers, pieces, stores.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/tall/tall.cu"
#include "runtime/cuda/tall/wgmma.cu"
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
  bool nonfinite = false;       ///< see EmulatedProduct
  bool shifted_values = false;  ///< a value behind an aligned address, as those of a run may stand
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
    const bool shifted = c.shifted_values && view.layout->arrays[i].holds_values;
    std::byte* const to =
        reinterpret_cast<std::byte*>(arrays.back().data()) + (shifted ? size_of(kernel.values) : 0);
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
                                 .planned_n = c.planned_n,
                                 .nonfinite = c.nonfinite},
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

TEST_CASE("tall kernels: any number of columns, any leading dimension") {
  Random random(2);
  for (const DeviceKernel& kernel : all_kernels())
    for (const auto& [n, pad] : kRagged) {
      const Case c = {
          .level = static_cast<int>(n) % 4, .n = n, .pad = pad, .permuted = true, .alpha = -0.5, .beta = 2};
      if (kernel.values != DType::none || n == 17)
        check_product(kernel, uneven_matrix(29, 40, kernel.values, random), c, random);
    }
}

TEST_CASE("tall kernels: values of a run may stand anywhere") {
  Random random(7);
  for (const DeviceKernel& kernel : all_kernels())
    if (kernel.values != DType::none)
      check_product(kernel, uneven_matrix(75, 90, kernel.values, random), {.n = 64, .shifted_values = true},
                    random);
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

TEST_CASE("tall kernels: a plan for many columns serves few") {
  Random random(5);
  for (const DeviceKernel& kernel : all_kernels()) {
    if (kernel.values == DType::none) continue;
    const formats::Csr a = random_matrix(40, 800, kernel.values, random, [](std::int64_t r, std::int64_t) {
      return r == 9 ? 0.95 : 0.03;  // windows in pieces
    });
    for (const auto& [planned, n] : kFewer)
      check_product(kernel, a,
                    {.level = static_cast<int>(n) % 4,
                     .n = n,
                     .pad = 8,
                     .permuted = true,
                     .alpha = 2,
                     .beta = -1,
                     .sm_count = 16,
                     .planned_n = planned},
                    random);
    const Formatted formatted = format_matrix(a, "tall");
    for (const std::int64_t n : {8, 32, 64, 72, 128, 200, 264, 1000})
      check_least_n(kernel, formatted.data.view(), n, emulated_device(16));
  }
}

TEST_CASE("tall kernels: matrices without rows, columns or entries") {
  Random random(4);
  for (const DeviceKernel& kernel : all_kernels()) {
    const auto check = [&](std::int64_t rows, std::int64_t cols, double density, const Case& c) {
      check_product(kernel, random_matrix(rows, cols, density, kernel.values, random), c, random);
    };
    check(19, 7, 0, {.n = 8});
    check(19, 7, 0, {.n = 5, .pad = 1, .beta = 3});
    check(0, 7, 0, {.n = 8});
    check(9, 0, 0, {.n = 8});
    check(1, 1, 1, {.n = 1});
    check(300, 7, 0.02, {.level = 1, .n = 16});
  }
}

TEST_CASE(
    "tall kernels: NaN, infinity and the largest numbers in B give what IEEE arithmetic gives, or NaN") {
  Random random(12);
  for (const DeviceKernel& kernel : all_kernels())
    for (const auto& [n, pad] : {std::pair<std::int64_t, std::int64_t>{32, 0}, {17, 1}})
      check_product(kernel, uneven_matrix(75, 90, kernel.values, random),
                    {.n = n, .pad = pad, .permuted = n == 17, .nonfinite = true}, random);
}
