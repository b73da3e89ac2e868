// The code of the SDDMM kernels, run on the host lane by lane.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "tests/runtime/cuda/emulated_copies.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/csr_sddmm.cu"
#include "runtime/cuda/tile16_sddmm.cu"
#include "runtime/cuda/tile8_sddmm.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceInfo;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;

namespace {

std::vector<DeviceKernel> sample_kernels() {
  std::vector<DeviceKernel> all;
  for (const auto family : {runtime::cuda::csr_sddmm_kernels, runtime::cuda::bittcf_sddmm_kernels,
                            runtime::cuda::rs_tile_sddmm_kernels, runtime::cuda::libra_spmm_sddmm_kernels,
                            runtime::cuda::libra_sddmm_sddmm_kernels, runtime::cuda::me_tcf_sddmm_kernels,
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
};

std::vector<double> numbers(const formats::Array& array) {
  const formats::Array exact = formats::convert_values(array.view(), DType::f64);
  return {exact.as<double>().begin(), exact.as<double>().end()};
}

/// The same entries, whose values are their numbers.
formats::Csr numbered(const formats::Csr& a) {
  std::vector<std::int32_t> as_they_stand(static_cast<std::size_t>(a.rows));
  std::iota(as_they_stand.begin(), as_they_stand.end(), 0);
  formats::Csr copy = formats::permute_rows(a.view(), as_they_stand);
  copy.values = formats::Array(DType::f64, a.nnz());
  std::iota(copy.values.as<double>().begin(), copy.values.as<double>().end(), 0);
  return copy;
}

/// Where the entries of the CSR matrix stand in the packed order of a format.
std::vector<std::int64_t> entries_in_order(const Formatted& formatted) {
  std::vector<std::int64_t> entry;
  for (std::size_t i = 0; i < formatted.data.view().layout->arrays.size(); ++i) {
    if (!formatted.data.view().layout->arrays[i].holds_values) continue;
    for (const double x : formatted.data.view().arrays[i].as<double>())
      entry.push_back(static_cast<std::int64_t>(x));
  }
  return entry;
}

void check_samples(const DeviceKernel& kernel, const formats::Csr& a, const Problem& p, Random& random) {
  CAPTURE(kernel.kernel);
  CAPTURE(name_of(kernel.dense));
  CAPTURE(static_cast<int>(kernel.precision));
  CAPTURE(a.rows);
  CAPTURE(p.n);
  CAPTURE(p.pad);
  const auto order = p.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{};
  const Formatted formatted = format_matrix(a, format_of(kernel), order);
  const std::vector<std::int64_t> entry =
      entries_in_order(format_matrix(numbered(a), format_of(kernel), order));
  REQUIRE(std::ssize(entry) == a.nnz());

  const std::int64_t ldx = p.n + p.pad, ldy = p.n + 2 * p.pad;
  const formats::Array x = random_values(std::max<std::int64_t>(1, a.rows * ldx), kernel.dense, random);
  const formats::Array y = random_values(std::max<std::int64_t>(1, a.cols * ldy), kernel.dense, random);
  const formats::Array before = random_values(a.nnz() + 1, kernel.dense, random);
  formats::Array out = random_values(a.nnz() + 1, kernel.dense, random);
  std::memcpy(out.data(), before.data(), static_cast<std::size_t>(before.view().bytes()));

  const Schedule schedule = kernel.schedule(formatted.data.view(), formatted.order, p.n, p.device);
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  if (!schedule.bytes.empty()) std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  Launch launch;
  launch.format = formatted.data.view();
  launch.row_order = formatted.order.empty() ? nullptr : formatted.order.data();
  launch.schedule = reinterpret_cast<const std::byte*>(bytes.data());
  launch.host = &schedule;
  launch.x = x.data();
  launch.ldx = ldx;
  launch.y = y.data();
  launch.ldy = ldy;
  launch.out = out.data();
  launch.scaled = p.scaled;
  launch.n = p.n;
  launch.alpha = p.alpha;
  launch.beta = p.beta;
  launch.device = &p.device;
  CHECK(kernel.launch(launch, nullptr) == 0);
  CHECK_FALSE(EmulatedWarp::diverged);

  std::vector<std::int64_t> row_of(static_cast<std::size_t>(a.nnz()));
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) row_of[static_cast<std::size_t>(k)] = r;
  const double rounding = kernel.dense == DType::f16    ? 0x1p-10
                          : kernel.dense == DType::bf16 ? 0x1p-7
                          : kernel.dense == DType::f64  ? 1e-14
                                                        : 2e-6;
  const std::vector<double> xs = numbers(x), ys = numbers(y), old_out = numbers(before),
                            result = numbers(out),
                            values = (a.values.view().dtype == DType::none) ? std::vector<double>{}
                                                                            : numbers(a.values);
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  double worst = 0;
  for (std::int64_t i = 0; i < a.nnz(); ++i) {
    const std::int64_t k = entry[static_cast<std::size_t>(i)], r = row_of[static_cast<std::size_t>(k)],
                       c = a.col_idx[k];
    double dot = 0, size = 1e-30;
    for (std::int64_t f = 0; f < p.n; ++f) {
      const double product = xs[at(r * ldx + f)] * ys[at(c * ldy + f)];
      dot += product;
      size += std::abs(product);
    }
    const double factor = p.alpha * (p.scaled && !(a.values.view().dtype == DType::none) ? values[at(k)] : 1);
    const double old = p.beta * old_out[at(i)];
    const double error = std::abs(result[at(i)] - (factor * dot + old));
    worst = std::max(worst, error / (std::abs(factor) * size + std::abs(old)));
  }
  CHECK(worst <= rounding + product_error(kernel.precision));
  CHECK(result[at(a.nnz())] == old_out[at(a.nnz())]);
}

}  // namespace

TEST_CASE("sddmm kernels: every instance samples an uneven matrix") {
  Random random(1);
  for (const DeviceKernel& kernel : sample_kernels())
    for (const std::int64_t n : {32, 128})
      check_samples(kernel, uneven_matrix(75, 90, DType::f32, random), {.n = n, .permuted = n == 32}, random);
}

TEST_CASE("sddmm kernels: any number of features, any leading dimension, several passes") {
  Random random(2);
  for (const DeviceKernel& kernel : sample_kernels()) {
    for (const auto& [n, pad] : kRagged)
      check_samples(kernel, uneven_matrix(29, 40, DType::f32, random), {.n = n, .pad = pad, .permuted = true},
                    random);
    for (const std::int64_t n : {64, 200, 264})
      check_samples(kernel, uneven_matrix(29, 40, DType::f32, random), {.n = n, .pad = 8}, random);
  }
}

TEST_CASE("sddmm kernels: scaled by values of any type, added to what is there") {
  Random random(3);
  for (const DeviceKernel& kernel : sample_kernels())
    for (const DType values : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64})
      check_samples(kernel, uneven_matrix(40, 50, values, random),
                    {.n = 16, .permuted = true, .alpha = -0.5, .beta = 2, .scaled = true}, random);
}

TEST_CASE("sddmm kernels: work in many pieces, many empty rows") {
  Random random(4);
  for (const DeviceKernel& kernel : sample_kernels()) {
    const formats::Csr a = random_matrix(20, 1500, DType::f32, random,
                                         [](std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.05; });
    check_samples(kernel, a, {.n = 20}, random);
    check_samples(kernel, a, {.n = 20, .permuted = true, .device = emulated_device(132)}, random);
    const formats::Csr sparse = random_matrix(
        400, 30, DType::f32, random, [](std::int64_t r, std::int64_t) { return r % 90 == 0 ? 0.5 : 0.0; });
    check_samples(kernel, sparse, {.n = 32}, random);
  }
}

TEST_CASE("sddmm kernels: matrices without rows, columns or entries") {
  Random random(5);
  for (const DeviceKernel& kernel : sample_kernels()) {
    check_samples(kernel, random_matrix(19, 7, 0, DType::f32, random), {.n = 8}, random);
    check_samples(kernel, random_matrix(0, 7, 0, DType::f32, random), {.n = 8}, random);
    check_samples(kernel, random_matrix(9, 0, 0, DType::f32, random), {.n = 8}, random);
    check_samples(kernel, random_matrix(1, 1, 1, DType::f32, random), {.n = 1}, random);
  }
}
