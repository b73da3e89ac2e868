// The code of the tile kernels, run on the host lane by lane: schedule, decoding, fragments, stores.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_copies.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/bmat_spmm.cu"
#include "runtime/cuda/me_tcf_spmm.cu"
#include "runtime/cuda/tile8_spmm.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceInfo;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;
using runtime::cuda::SpmmKernel;

namespace {

std::vector<SpmmKernel> tile_kernels() {
  std::vector<SpmmKernel> all;
  for (const auto family :
       {runtime::cuda::bittcf_kernels, runtime::cuda::bittcf_staged_kernels, runtime::cuda::rs_tile_kernels,
        runtime::cuda::me_tcf_kernels, runtime::cuda::bmat_kernels, runtime::cuda::bmat_staged_kernels})
    for (const SpmmKernel& row : family()) all.push_back(row);
  return all;
}

std::string format_of(const SpmmKernel& kernel) {
  const std::string name(kernel.kernel.substr(5));
  return name.substr(0, name.find('.'));
}

/// Small enough for a few items to be many.
DeviceInfo tiny_device(int sm_count = 1) {
  return {.ordinal = 0,
          .capability = 90,
          .sm_count = sm_count,
          .l2_bytes = 1 << 20,
          .shared_per_block = 227 << 10,
          .name = "emulated"};
}

/// Largest relative error that the products of a precision may have, besides those of f32 sums.
double product_error(runtime::Precision precision) {
  switch (precision) {
    case runtime::Precision::tf32:
      return 1e-3;  // two factors, each off by up to 2^-11
    case runtime::Precision::fp32:
      return 2e-6;
    default:
      return 0;  // fp16, bf16 and fp64 factors are exact
  }
}

/// Multiplies, compares with the reference, looks between the rows of C; gives the schedule.
Schedule check_product(const SpmmKernel& kernel, const formats::Csr& a, std::int64_t n, std::int64_t pad,
                       Random& random, bool permuted, double alpha, double beta, const DeviceInfo& device) {
  CAPTURE(kernel.kernel);
  CAPTURE(name_of(kernel.values));
  CAPTURE(name_of(kernel.dense));
  CAPTURE(static_cast<int>(kernel.precision));
  CAPTURE(a.rows);
  CAPTURE(n);
  CAPTURE(pad);
  const Formatted formatted = format_matrix(
      a, format_of(kernel), permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
  const formats::FormatView view = formatted.data.view();
  const Dense dense(a, n, kernel.dense, random, pad);
  const Schedule schedule = kernel.schedule(view, formatted.order, n, device);
  std::vector<double> workspace(schedule.workspace_bytes / sizeof(double) + 1);
  std::vector<std::byte> bytes = schedule.bytes;
  std::vector<std::byte> c = dense.c_bytes();
  Launch launch;
  launch.format = view;
  launch.row_order = formatted.order.empty() ? nullptr : formatted.order.data();
  launch.schedule = bytes.data();
  launch.workspace = reinterpret_cast<std::byte*>(workspace.data());
  launch.host = &schedule;
  launch.b = dense.b.data();
  launch.ldb = dense.ldb;
  launch.c = c.data();
  launch.ldc = dense.ldc;
  launch.n = n;
  launch.alpha = alpha;
  launch.beta = beta;
  launch.device = &device;
  emulated_copies.late = !emulated_copies.late;
  CHECK(kernel.launch(launch, nullptr) == 0);
  const double error = runtime::relative_error(
      a.view(), n, kernel.dense, operands(dense, c.data(), alpha, beta), dense.c_bytes().data());
  CHECK(error <= runtime::tolerated_error(a.view(), kernel.dense) + product_error(kernel.precision));
  CHECK_FALSE(EmulatedWarp::diverged);
  CHECK_FALSE(emulated_block.misaligned);
  const std::vector<std::byte> before = dense.c_bytes();
  const std::size_t size = size_of(kernel.dense);
  for (std::int64_t r = 0; r + 1 < a.rows; ++r) {
    const std::size_t gap = static_cast<std::size_t>(r * dense.ldc + n) * size;
    CHECK(std::memcmp(c.data() + gap, before.data() + gap, static_cast<std::size_t>(dense.ldc - n) * size) ==
          0);
  }
  return schedule;
}

/// Columns of B that are not a multiple of anything, and what leading dimensions have beyond them.
constexpr std::pair<std::int64_t, std::int64_t> kRagged[] = {{1, 0}, {3, 1}, {17, 8}, {36, 1}, {67, 0}};

/// Rows of very different lengths: some empty, some short, some long.
formats::Csr uneven_matrix(std::int64_t rows, std::int64_t cols, DType values, Random& random) {
  return random_matrix(rows, cols, values, random, [=](std::int64_t r, std::int64_t c) {
    if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 1.5 / static_cast<double>(cols);
    if (r == 17) return 0.9;
    return (r / 8 + c / 16) % 3 == 0 ? 0.3 : 0.01;
  });
}

}  // namespace

TEST_CASE("tile kernels: every instance multiplies an uneven matrix") {
  Random random(1);
  for (const SpmmKernel& kernel : tile_kernels())
    for (const std::int64_t n : {32, 128})
      check_product(kernel, uneven_matrix(75, 90, kernel.values, random), n, 0, random, n == 32, 1, 0,
                    tiny_device());
}

TEST_CASE("tile kernels: any number of columns, any leading dimension") {
  Random random(2);
  for (const SpmmKernel& kernel : tile_kernels())
    for (const auto& [n, pad] : kRagged)
      if (kernel.values != DType::none || n == 17)
        check_product(kernel, uneven_matrix(29, 40, kernel.values, random), n, pad, random, true, -0.5, 2,
                      tiny_device());
}

TEST_CASE("tile kernels: long windows in pieces") {
  Random random(3);
  for (const SpmmKernel& kernel : tile_kernels()) {
    if (kernel.dense != DType::f32 && kernel.values == DType::none) continue;
    const formats::Csr a = random_matrix(20, 1500, kernel.values, random,
                                         [](std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.05; });
    const Schedule schedule = check_product(kernel, a, 40, 0, random, true, 2, -1, tiny_device());
    CHECK(schedule.numbers[runtime::cuda::kSplitCount] > 0);
    check_product(kernel, a, 40, 0, random, false, 1, 0, tiny_device(132));
  }
}

TEST_CASE("tile kernels: matrices without rows, columns or entries") {
  Random random(4);
  for (const SpmmKernel& kernel : tile_kernels()) {
    check_product(kernel, random_matrix(19, 7, 0, kernel.values, random), 8, 0, random, false, 1, 0,
                  tiny_device());
    check_product(kernel, random_matrix(19, 7, 0, kernel.values, random), 5, 1, random, false, 1, 3,
                  tiny_device());
    check_product(kernel, random_matrix(0, 7, 0, kernel.values, random), 8, 0, random, false, 1, 0,
                  tiny_device());
    check_product(kernel, random_matrix(9, 0, 0, kernel.values, random), 8, 0, random, false, 1, 0,
                  tiny_device());
    check_product(kernel, random_matrix(1, 1, 1, kernel.values, random), 1, 0, random, false, 1, 0,
                  tiny_device());
  }
}

TEST_CASE("tile kernels: slices of B one after the other when they do not fit in the cache") {
  Random random(5);
  DeviceInfo device = tiny_device();
  device.l2_bytes = 90 * 64 * 4;
  for (const SpmmKernel& kernel : tile_kernels()) {
    if (kernel.values == DType::none) continue;
    const Schedule schedule = check_product(kernel, uneven_matrix(75, 90, kernel.values, random), 264, 8,
                                            random, true, 1, 0, device);
    CHECK(schedule.numbers[runtime::cuda::kSlicesTogether] < 5);
  }
}
