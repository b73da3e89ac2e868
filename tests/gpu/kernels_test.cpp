// Every instance of every CUDA kernel against the double reference. The table is iterated: a new kernel is
// covered as soon as it has a row.
#include "formats/convert/hc_window.hpp"
#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;

namespace {

struct Case {
  std::int64_t n = 1, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  Shift shift = {};
  formats::Conversion conversion = {};  ///< none: the usual one of the kernel's format
};

/// Says whether errors of single results even out in the norm of all: they do not in few results, nor where
/// one row has most of it.
bool evens_out(const formats::Csr& a, std::int64_t n) {
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) longest = std::max(longest, a.row_ptr[r + 1] - a.row_ptr[r]);
  return a.nnz() > 100 && n >= 32 && 4 * longest <= a.nnz();
}

/// Runs one instance and measures every element; also sees that nothing between the rows of C is touched.
void check_kernel(const DeviceKernel& row, const formats::Csr& a, Case c, Random& random) {
  c.n = columns_for(row, c.n);
  if (!serves(row, c.n, 1, a.cols)) return;
  CAPTURE(label(row));
  CAPTURE(a.rows);
  CAPTURE(a.cols);
  CAPTURE(a.nnz());
  CAPTURE(c.n);
  CAPTURE(c.pad);
  CAPTURE(c.permuted);
  const runtime::DenseTypes types = types_of(row);
  Dense dense(a, c.n, types, random, c.pad);
  if (c.beta == 0) poison(dense);
  const std::vector<std::byte> before = dense.c_bytes();
  const Formatted formatted =
      format_matrix(a, c.conversion ? c.conversion : formats::find_converter(format_of(row.kernel))->from_csr,
                    c.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
  std::vector<std::byte> result =
      run_on_device(formatted.matrix(), options_for(row, c.n), dense, c.alpha, c.beta, c.shift);
  const double bound = runtime::tolerated_error(a.view(), types) + product_error(row.precision, types);
  CHECK(runtime::relative_error(a.view(), c.n, types, operands(dense, result.data(), c.alpha, c.beta),
                                before.data()) <= bound);
  if (evens_out(a, c.n)) {
    if (c.beta == 0) std::memset(dense.c.data(), 0, before.size());
    CHECK(frobenius_error(a, dense, result.data(), c.alpha, c.beta) <= frobenius_bound(row.precision, types));
  }
  const std::size_t size = size_of(types.result);
  bool untouched = true;
  for (std::int64_t r = 0; r + 1 < a.rows; ++r) {
    const std::size_t gap = static_cast<std::size_t>(r * dense.ldc + dense.n) * size;
    const std::size_t gap_size = static_cast<std::size_t>(dense.ldc - dense.n) * size;
    untouched = untouched && std::memcmp(result.data() + gap, before.data() + gap, gap_size) == 0;
  }
  CHECK(untouched);
}

constexpr std::int64_t kColumns[] = {1, 2, 7, 8, 16, 31, 32, 33, 64, 100, 128, 200, 256, 512, 640};

}  // namespace

TEST_CASE("cuda spmm: any number of columns, padded and permuted") {
  Random random(1);
  for (const DeviceKernel& row : runnable_kernels()) {
    const formats::Csr a = random_matrix(45, 70, 0.15, row.values, random);
    for (const std::int64_t n : kColumns) {
      check_kernel(row, a, {.n = n}, random);
      check_kernel(row, a, {.n = n, .pad = 3, .permuted = true, .alpha = 1.5, .beta = -1}, random);
      check_kernel(row, a, {.n = n, .pad = 8, .permuted = true, .alpha = -0.5, .beta = 2}, random);
    }
  }
}

TEST_CASE("cuda spmm: matrices of many shapes and densities") {
  Random random(2);
  std::vector<RandomShape> shapes(std::begin(kRandomShapes), std::end(kRandomShapes));
  shapes.push_back({1000, 900, 0.003});
  shapes.push_back({17, 16, 1});
  for (const RandomShape& s : shapes)
    for (const DeviceKernel& row : runnable_kernels()) {
      const formats::Csr a = random_matrix(s.rows, s.cols, s.density, row.values, random);
      for (const std::int64_t n : {5, 32, 128}) check_kernel(row, a, {.n = n}, random);
      check_kernel(row, a, {.n = 72, .pad = 4, .permuted = true, .alpha = 2, .beta = 0.5}, random);
    }
}

TEST_CASE("cuda spmm: a dense row, very long rows, empty rows, no entries, no rows") {
  Random random(3);
  const auto one_dense_row = [](std::int64_t r, std::int64_t) { return r == 11 ? 1.0 : 0.002; };
  const auto long_rows = [](std::int64_t r, std::int64_t) { return r % 8 < 3 ? 0.5 : 0.01; };
  const auto empty_rows = [](std::int64_t r, std::int64_t c) { return r % 3 == 1 && c % 2 == 0 ? 0.2 : 0.0; };
  const auto last_rows_empty = [](std::int64_t r, std::int64_t) { return r < 5 ? 0.5 : 0.0; };
  for (const DeviceKernel& row : runnable_kernels()) {
    const auto check_some = [&](const formats::Csr& a, std::initializer_list<std::int64_t> columns) {
      for (const std::int64_t n : columns) check_kernel(row, a, {.n = n}, random);
      check_kernel(row, a, {.n = 128, .permuted = true, .alpha = 1, .beta = 3}, random);
    };
    const auto check = [&](const formats::Csr& a) { check_some(a, {8, 32, 60, 128, 130}); };
    check(random_matrix(90, 2500, row.values, random, one_dense_row));
    check_some(random_matrix(40, 6000, row.values, random, long_rows),
               {32, 130});  // the reference takes long
    check_some(random_matrix(20, 40000, row.values, random,
                             [](std::int64_t r, std::int64_t) { return r == 3 ? 0.9 : 0.0005; }),
               {1});  // pieces of whatever kernel
    check(random_matrix(200, 60, row.values, random, empty_rows));
    check(random_matrix(500, 40, row.values, random, last_rows_empty));
    check(mixed_windows(1003, 300, row.values, random));
    for (const auto& [rows, cols] : {std::pair{0, 9}, {9, 0}, {40, 40}, {300, 1}})
      check(random_matrix(rows, cols, 0, row.values, random));
  }
}

TEST_CASE("cuda spmm: all windows of hc_window on one kind of core, or some of them, long ones too") {
  Random random(9);
  for (const DeviceKernel& row : runnable_kernels()) {
    if (format_of(row.kernel) != "hc_window") continue;
    const formats::Csr windows = mixed_windows(1003, 300, row.values, random);
    const formats::Csr skewed =
        random_matrix(100, 6000, row.values, random, [](std::int64_t r, std::int64_t c) {
          if (r / 16 % 3 == 1) return 0.3;
          return r % 16 == 9 ? 0.5 : c % 50 == 0 ? 0.02 : 0.0;
        });
    for (const formats::HcSelector& selector :
         {formats::kHcAllTensor, formats::kHcAllCuda, formats::HcSelector{-448, 511, 0}}) {
      const auto conversion = [&](const formats::CsrView& a, Progress* progress) {
        return formats::hc_window_from_csr_at(a, formats::hc_parameter(selector), progress);
      };
      for (const std::int64_t n : {8, 32, 64, 128, 130, 256})
        for (const formats::Csr* a : {&windows, &skewed})
          check_kernel(
              row, *a,
              {.n = n, .permuted = true, .alpha = 2, .beta = n == 64 ? 0.0 : -1.0, .conversion = conversion},
              random);
    }
  }
}

TEST_CASE("cuda spmm: operands that start between 16-byte boundaries") {
  Random random(4);
  for (const DeviceKernel& row : runnable_kernels()) {
    const formats::Csr a = random_matrix(50, 60, 0.2, row.values, random);
    const std::size_t b = size_of(row.dense), c = size_of(types_of(row).result);
    for (const std::int64_t n : {32, 64, 128})
      for (const Shift shift : {Shift{b, 0}, {0, c}, {2 * b, 2 * c}})
        check_kernel(row, a, {.n = n, .shift = shift}, random);
  }
}

TEST_CASE("cuda spmm: a plan serves fewer columns, one number after the other, and touches no others") {
  Random random(8);
  const auto skewed = [](std::int64_t r, std::int64_t) { return r % 50 == 5 ? 0.9 : 0.02; };
  constexpr std::int64_t kPlanned = 264;
  for (const DeviceKernel& row : runnable_kernels()) {
    if (!serves(row, kPlanned)) continue;
    CAPTURE(label(row));
    const runtime::DenseTypes types = types_of(row);
    const formats::Csr a = random_matrix(300, cols_for(row, kPlanned, 2000), row.values, random, skewed);
    const Dense dense(a, kPlanned, types, random, 8);
    const std::vector<std::byte> before = dense.c_bytes();
    const Formatted formatted = format_matrix(a, format_of(row.kernel), random_order(a.rows, random));
    const auto plan = runtime::plan_spmm(formatted.matrix(), options_for(row, kPlanned));
    REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
    CHECK(runtime::least_n(**plan) >= 1);
    CHECK(runtime::least_n(**plan) <= kPlanned);
    for (const std::int64_t n : {kPlanned, std::int64_t{1}, std::int64_t{200}, std::int64_t{7}, kPlanned - 1,
                                 std::int64_t{32}, kPlanned}) {
      CAPTURE(n);
      std::vector<std::byte> c = run_on_device(**plan, dense, -0.5, 2, {}, n);
      CHECK(runtime::relative_error(a.view(), n, types, operands(dense, c.data(), -0.5, 2), before.data()) <=
            runtime::tolerated_error(a.view(), types) + product_error(row.precision, types));
      bool untouched = true;
      for (std::int64_t r = 0; r < a.rows; ++r) {
        const std::size_t size = size_of(types.result),
                          gap = static_cast<std::size_t>(r * dense.ldc + n) * size,
                          gap_size = static_cast<std::size_t>(dense.ldc - n) * size;
        untouched = untouched && std::memcmp(c.data() + gap, before.data() + gap, gap_size) == 0;
      }
      CHECK(untouched);
    }
  }
}

TEST_CASE("cuda spmm: the same bits every time, also in long rows") {
  Random random(5);
  const auto skewed = [](std::int64_t r, std::int64_t) { return r % 50 == 5 ? 0.9 : 0.02; };
  for (const DeviceKernel& row : runnable_kernels()) {
    if (!kernel_of(row).deterministic) continue;
    CAPTURE(label(row));
    const std::int64_t n = columns_for(row, 128);
    const formats::Csr a = random_matrix(300, cols_for(row, n, 4000), row.values, random, skewed);
    const Dense dense(a, n, types_of(row), random);
    const Formatted formatted = format_matrix(a, format_of(row.kernel));
    const auto first = run_on_device(formatted.matrix(), options_for(row, n), dense);
    for (int i = 0; i < 3; ++i) CHECK(run_on_device(formatted.matrix(), options_for(row, n), dense) == first);
  }
}

TEST_CASE(
    "cuda spmm: NaN in rows of B that nothing references goes nowhere; strict kernels keep it to its rows") {
  Random random(6);
  for (const DeviceKernel& row : runnable_kernels()) {
    CAPTURE(label(row));
    const std::int64_t n = columns_for(row, 32);
    const formats::Csr a = random_matrix(60, 40, row.values, random,
                                         [](std::int64_t, std::int64_t c) { return c % 5 == 2 ? 0.0 : 0.1; });
    Dense dense(a, n, types_of(row), random);
    const auto poison_row = [&](std::int64_t k) {
      const std::size_t bytes = static_cast<std::size_t>(n) * size_of(row.dense);
      std::memset(static_cast<std::byte*>(dense.b.data()) + static_cast<std::size_t>(k) * bytes, 0xFF, bytes);
    };
    for (std::int64_t k = 2; k < a.cols; k += 5) poison_row(k);
    if (row.ieee) poison_row(9);
    const Formatted formatted = format_matrix(a, format_of(row.kernel));
    runtime::PlanOptions options = options_for(row, n);
    options.nonfinite = row.ieee ? runtime::NonFinite::strict : runtime::NonFinite::fast;
    const auto bytes = run_on_device(formatted.matrix(), options, dense);
    const formats::Array c =
        formats::convert_values(ArrayView(types_of(row).result, bytes.data(), a.rows * n), DType::f64);
    for (std::int64_t r = 0; r < a.rows; ++r) {
      bool references = false;
      for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
        references = references || a.col_idx[k] == 9;
      CHECK(std::isnan(c.as<double>()[static_cast<std::size_t>(r * n + n / 5)]) == (row.ieee && references));
    }
  }
}

TEST_CASE("cuda spmm: rows of B and C beyond 4 GiB") {
  Random random(7);
  const std::int64_t stride = std::int64_t{1} << 21;
  std::size_t free = 0, total = 0;
  require(cudaMemGetInfo(&free, &total));
  for (const DeviceKernel& row : runnable_kernels()) {
    const formats::Csr a = random_matrix(600, 600, 0.02, row.values, random);
    const std::int64_t n = columns_for(row, 16);
    const runtime::DenseTypes types = types_of(row);
    const auto pitch = [&](DType type) { return static_cast<std::size_t>(stride) * size_of(type); };
    const auto width = [&](DType type) { return static_cast<std::size_t>(n) * size_of(type); };
    const std::size_t b_pitch = pitch(types.operands), c_pitch = pitch(types.result);
    if (row.dense == DType::f64 || free < 600 * (b_pitch + c_pitch) + (std::size_t{1} << 30)) continue;
    CAPTURE(label(row));
    Dense dense(a, n, types, random);
    const Formatted formatted = format_matrix(a, format_of(row.kernel));
    const auto plan = runtime::plan_spmm(formatted.matrix(), options_for(row, n));
    REQUIRE(plan);
    const DeviceBytes b(600 * b_pitch), c(600 * c_pitch);
    const std::size_t b_width = width(types.operands), c_width = width(types.result);
    require(cudaMemcpy2D(b.get(), b_pitch, dense.b.data(), b_width, b_width, 600, cudaMemcpyHostToDevice));
    REQUIRE(runtime::run(**plan, runtime::SpmmOperands{b.get(), stride, c.get(), stride}));
    require(cudaMemcpy2D(dense.c.data(), c_width, c.get(), c_pitch, c_width, 600, cudaMemcpyDeviceToHost));
    CHECK(runtime::relative_error(a.view(), n, types, operands(dense, dense.c.data())) <=
          runtime::tolerated_error(a.view(), types) + product_error(row.precision, types));
  }
}
