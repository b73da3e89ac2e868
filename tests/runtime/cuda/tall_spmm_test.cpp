// The code of the tall kernel, run on the host lane by lane: producer, barriers, consumers, pieces, stores.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/tall_spmm.cu"
#pragma GCC diagnostic pop

#include "formats/convert/tall.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceInfo;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;
using runtime::cuda::SpmmKernel;

namespace {

DeviceInfo emulated_device(int sm_count, int capability) {
  return {.ordinal = 0,
          .capability = capability,
          .sm_count = sm_count,
          .l2_bytes = 1 << 20,
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
  int level = 0;
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  int sm_count = 1, capability = 90;
};

void check_product(const SpmmKernel& kernel, const formats::Csr& source, const Case& c, Random& random) {
  CAPTURE(name_of(kernel.values));
  CAPTURE(name_of(kernel.dense));
  CAPTURE(static_cast<int>(kernel.precision));
  CAPTURE(source.rows);
  CAPTURE(c.level);
  CAPTURE(c.n);
  CAPTURE(c.pad);
  CAPTURE(c.capability);
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
    if (bytes > 0) std::memcpy(arrays.back().data(), view.arrays[i].data, bytes);
    if (view.arrays[i].present()) view.arrays[i].data = arrays.back().data();
  }

  const DeviceInfo device = emulated_device(c.sm_count, c.capability);
  const Dense dense(a, c.n, kernel.dense, random, c.pad);
  const Schedule schedule = kernel.schedule(view, order, c.n, device);
  std::vector<double> workspace(schedule.workspace_bytes / sizeof(double) + 2, 0);
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  std::vector<std::byte> result = dense.c_bytes();
  Launch launch;
  launch.format = view;
  launch.row_order = order.empty() ? nullptr : order.data();
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
  CHECK_FALSE(EmulatedWarp::diverged);
  CHECK_FALSE(emulated_block.misaligned);
  const double error =
      runtime::relative_error(source.view(), c.n, kernel.dense,
                              operands(dense, result.data(), c.alpha, c.beta), dense.c_bytes().data());
  CHECK(error <= runtime::tolerated_error(source.view(), kernel.dense) + product_error(kernel.precision));
  const auto* const counters = reinterpret_cast<const unsigned*>(workspace.data());
  for (std::int64_t i = 0; i < schedule.numbers[runtime::cuda::kTallPartialsAt] / 4; ++i)
    CHECK(counters[i] == 0);
  const std::vector<std::byte> before = dense.c_bytes();
  const std::size_t size = size_of(kernel.dense);
  for (std::int64_t r = 0; r + 1 < a.rows; ++r) {
    const std::size_t gap = static_cast<std::size_t>(r * dense.ldc + c.n) * size;
    CHECK(std::memcmp(result.data() + gap, before.data() + gap,
                      static_cast<std::size_t>(dense.ldc - c.n) * size) == 0);
  }
}

/// Columns of B that are not a multiple of anything, and what leading dimensions have beyond them.
constexpr std::pair<std::int64_t, std::int64_t> kRagged[] = {{1, 0},  {3, 1},  {17, 8},
                                                             {36, 1}, {67, 0}, {200, 1}};

formats::Csr uneven_matrix(std::int64_t rows, std::int64_t cols, DType values, Random& random) {
  return random_matrix(rows, cols, values, random, [=](std::int64_t r, std::int64_t c) {
    if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 1.5 / static_cast<double>(cols);
    if (r == 17) return 0.9;
    return (r / 8 + c / 16) % 3 == 0 ? 0.3 : 0.01;
  });
}

}  // namespace

TEST_CASE("tall kernels: every instance multiplies an uneven matrix, at every height") {
  Random random(1);
  for (const SpmmKernel& kernel : runtime::cuda::tall_kernels())
    for (int level = 0; level < 4; ++level)
      for (const std::int64_t n : {32, 72})
        check_product(kernel, uneven_matrix(75, 90, kernel.values, random),
                      {.level = level, .n = n, .permuted = n == 72, .capability = n == 32 ? 80 : 90}, random);
}

TEST_CASE("tall kernels: any number of columns, any leading dimension") {
  Random random(2);
  for (const SpmmKernel& kernel : runtime::cuda::tall_kernels())
    for (const auto& [n, pad] : kRagged)
      if (kernel.values != DType::none || n == 17)
        check_product(kernel, uneven_matrix(29, 40, kernel.values, random),
                      {.level = static_cast<int>(n) % 4,
                       .n = n,
                       .pad = pad,
                       .permuted = true,
                       .alpha = -0.5,
                       .beta = 2},
                      random);
}

TEST_CASE("tall kernels: long windows in pieces") {
  Random random(3);
  for (const SpmmKernel& kernel : runtime::cuda::tall_kernels()) {
    if (kernel.dense != DType::f32 && kernel.values == DType::none) continue;
    const formats::Csr a = random_matrix(150, 1500, kernel.values, random,
                                         [](std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.05; });
    for (int level = 0; level < 4; level += 3)
      for (const int capability : {80, 90}) {
        check_product(kernel, a,
                      {.level = level,
                       .n = 40,
                       .permuted = true,
                       .alpha = 2,
                       .beta = -1,
                       .sm_count = 16,
                       .capability = capability},
                      random);
      }
  }
}

TEST_CASE("tall kernels: matrices without rows, columns or entries") {
  Random random(4);
  for (const SpmmKernel& kernel : runtime::cuda::tall_kernels()) {
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
