// The code of the bulk kernel, run on the host lane by lane: producer, decoder, barriers, consumers, pieces,
// stores.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_copies.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/bmat_bulk_spmm.cu"
#include "runtime/cuda/bmat_spmm.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceInfo;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;
using runtime::cuda::SpmmKernel;

namespace {

/// Small enough for a few pieces to be many.
DeviceInfo emulated_device(int sm_count) {
  return {.ordinal = 0,
          .capability = 90,
          .sm_count = sm_count,
          .l2_bytes = 90 * 64 * 8,
          .shared_per_block = 227 << 10,
          .memory = 1 << 30,
          .name = "emulated"};
}

double product_error(runtime::Precision precision) {
  switch (precision) {
    case runtime::Precision::tf32:
      return 2.5e-3;  // two factors of 2^-11, and some
    case runtime::Precision::fp32:
      return 2e-6;
    default:
      return 0;  // fp16, bf16 and fp64 factors are exact
  }
}

struct Case {
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  int sm_count = 1;
};

Schedule check_product(const SpmmKernel& kernel, const formats::Csr& a, const Case& c, Random& random) {
  CAPTURE(name_of(kernel.values));
  CAPTURE(name_of(kernel.dense));
  CAPTURE(static_cast<int>(kernel.precision));
  CAPTURE(a.rows);
  CAPTURE(c.n);
  CAPTURE(c.pad);
  CAPTURE(c.sm_count);
  const Formatted formatted =
      format_matrix(a, "bmat", c.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
  const formats::FormatView view = formatted.data.view();
  const DeviceInfo device = emulated_device(c.sm_count);
  const Dense dense(a, c.n, kernel.dense, random, c.pad);
  const Schedule schedule = kernel.schedule(view, formatted.order, c.n, device);
  // Counters start at zero, sums may start as anything.
  const auto counters =
      static_cast<std::size_t>(schedule.numbers[runtime::cuda::kPartialsAt]) / sizeof(double);
  std::vector<double> workspace(schedule.workspace_bytes / sizeof(double) + 2, 1e30);
  std::fill_n(workspace.begin(), counters, 0);
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  if (!schedule.bytes.empty()) std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  std::vector<std::byte> result = dense.c_bytes();
  Launch launch;
  launch.format = view;
  launch.row_order = formatted.order.empty() ? nullptr : formatted.order.data();
  launch.schedule = reinterpret_cast<const std::byte*>(bytes.data());
  launch.workspace = reinterpret_cast<std::byte*>(workspace.data());
  launch.host = &schedule;
  launch.b = dense.b.data();
  launch.ldb = dense.ldb;
  launch.c = result.data();
  launch.ldc = dense.ldc;
  launch.n = c.n;
  launch.alpha = c.alpha;
  launch.beta = c.beta;
  launch.device = &device;
  CHECK(kernel.launch(launch, nullptr) == 0);
  CHECK(std::all_of(workspace.begin(), workspace.begin() + static_cast<std::ptrdiff_t>(counters),
                    [](double x) { return std::bit_cast<std::uint64_t>(x) == 0; }));
  CHECK_FALSE(EmulatedWarp::diverged);
  CHECK_FALSE(emulated_block.misaligned);
  const double error = runtime::relative_error(
      a.view(), c.n, kernel.dense, operands(dense, result.data(), c.alpha, c.beta), dense.c_bytes().data());
  CHECK(error <= runtime::tolerated_error(a.view(), kernel.dense) + product_error(kernel.precision));
  const std::vector<std::byte> before = dense.c_bytes();
  const std::size_t size = size_of(kernel.dense);
  for (std::int64_t r = 0; r + 1 < a.rows; ++r) {
    const std::size_t gap = static_cast<std::size_t>(r * dense.ldc + c.n) * size;
    CHECK(std::memcmp(result.data() + gap, before.data() + gap,
                      static_cast<std::size_t>(dense.ldc - c.n) * size) == 0);
  }
  return schedule;
}

formats::Csr uneven_matrix(std::int64_t rows, std::int64_t cols, DType values, Random& random) {
  return random_matrix(rows, cols, values, random, [=](std::int64_t r, std::int64_t c) {
    if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 1.5 / static_cast<double>(cols);
    if (r == 17) return 0.9;
    return (r / 8 + c / 16) % 3 == 0 ? 0.3 : 0.01;
  });
}

}  // namespace

TEST_CASE("bulk kernels: every instance multiplies an uneven matrix, slices in one pass and in several") {
  Random random(1);
  for (const SpmmKernel& kernel : runtime::cuda::bmat_bulk_kernels())
    for (const std::int64_t n : {72, 264})
      check_product(kernel, uneven_matrix(75, 90, kernel.values, random), {.n = n, .permuted = n == 72},
                    random);
}

TEST_CASE("bulk kernels: any number of columns, any leading dimension") {
  Random random(2);
  for (const SpmmKernel& kernel : runtime::cuda::bmat_bulk_kernels())
    for (const std::int64_t n : {1, 17, 40, 136})
      for (const std::int64_t pad : {0, 1, 8}) {
        if (kernel.values == DType::none && n != 40) continue;
        const Schedule made =
            check_product(kernel, uneven_matrix(29, 40, kernel.values, random),
                          {.n = n, .pad = pad, .permuted = true, .alpha = -0.5, .beta = 2}, random);
        CHECK((made.numbers[runtime::cuda::kBulkStages] > 0) == (n % 8 == 0));
      }
}

TEST_CASE("bulk kernels: windows in pieces, blocks with several pieces") {
  Random random(3);
  for (const SpmmKernel& kernel : runtime::cuda::bmat_bulk_kernels()) {
    if (kernel.dense != DType::f32 && kernel.values == DType::none) continue;
    const formats::Csr a = random_matrix(60, 800, kernel.values, random, [](std::int64_t r, std::int64_t) {
      return r == 9 ? 0.95 : r < 16 ? 0.05 : r < 48 ? 0.0 : 0.02;
    });
    const Schedule many =
        check_product(kernel, a, {.n = 40, .permuted = true, .alpha = 2, .beta = -1, .sm_count = 8}, random);
    CHECK(many.numbers[runtime::cuda::kSplitCount] > 0);
    const Schedule few = check_product(kernel, a, {.n = 16}, random);
    CHECK(few.numbers[runtime::cuda::kItemCount] >= few.numbers[runtime::cuda::kBulkBlocks]);
  }
}

TEST_CASE("bulk kernels: a window in more pieces than one warp adds up") {
  Random random(5);
  for (const SpmmKernel& kernel : runtime::cuda::bmat_bulk_kernels()) {
    if (kernel.values != DType::f32 && kernel.values != DType::f64) continue;
    const formats::Csr a = random_matrix(20, 4000, kernel.values, random,
                                         [](std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.01; });
    const Schedule schedule = check_product(kernel, a, {.n = 16, .permuted = true, .sm_count = 132}, random);
    runtime::cuda::SplitWindow split;
    std::memcpy(&split, schedule.bytes.data() + schedule.numbers[runtime::cuda::kSplitsAt], sizeof split);
    CHECK(split.count > runtime::cuda::kSumGroup);
  }
}

TEST_CASE("bulk kernels: matrices without rows, columns or entries") {
  Random random(4);
  for (const SpmmKernel& kernel : runtime::cuda::bmat_bulk_kernels()) {
    const auto check = [&](std::int64_t rows, std::int64_t cols, double density, const Case& c) {
      check_product(kernel, random_matrix(rows, cols, density, kernel.values, random), c, random);
    };
    check(19, 7, 0, {.n = 8});
    check(19, 7, 0, {.n = 8, .pad = 1, .beta = 3});
    check(0, 7, 0, {.n = 8});
    check(9, 0, 0, {.n = 8});
    check(1, 1, 1, {.n = 8});
    check(1200, 7, 0.02, {.n = 16});
  }
}
