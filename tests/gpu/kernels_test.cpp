// Cases of SpMM kernels that the property runner (tests/property) does not have: every kind of windows of
// hc_window, and operands beyond 4 GiB.
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
  if (!supports(row, c.n, 1, a.cols)) return;
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
  const double bound =
      runtime::tolerated_error(a.view(), types) + runtime::factor_error(runtime::kSpmm, row.precision, types);
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

}  // namespace

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
          runtime::tolerated_error(a.view(), types) +
              runtime::factor_error(runtime::kSpmm, row.precision, types));
  }
}
