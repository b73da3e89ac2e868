// The C++ interface, which is a thin layer over the C one: owners, ranges, exceptions.
#include "sptile.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

namespace {

// [ 1 . 2 ]
// [ . . . ]
// [ . 3 . ]
const std::vector<std::int64_t> kRowPtr = {0, 2, 2, 3};
const std::vector<std::int32_t> kCols = {0, 2, 1};
const std::vector<float> kValues = {1, 2, 3};

sptile::CsrMatrix small() { return {3, 3, kRowPtr, kCols, kValues}; }

/// Status of the exception that f throws; SPTILE_OK when it throws none.
template <class F>
sptile_status thrown(F f) {
  try {
    f();
    return SPTILE_OK;
  } catch (const sptile::Exception& e) {
    CHECK(std::string(e.what()).size() > 0);
    return e.status();
  }
}

}  // namespace

TEST_CASE("C++ interface: plans, runs, refreshes and tells about a matrix in memory") {
  sptile::Plan plan(small(), {.n = 2, .refreshable = true, .kernel = "cpu.csr.generic"});
  CHECK(plan.rows() == 3);
  CHECK(plan.cols() == 3);
  CHECK(plan.n() == 2);
  CHECK(plan.kernel() == "cpu.csr.generic");
  const std::array<float, 6> b = {1, 2, 3, 4, 5, 6};
  std::vector<float> c(6);
  plan.run(b, c);
  CHECK(c == std::vector<float>{11, 14, 0, 0, 9, 12});
  plan.run(b, c, {.alpha = 2, .beta = 1});
  CHECK(c == std::vector<float>{33, 42, 0, 0, 27, 36});
  plan.refresh(std::vector<float>{10, 20, 30});
  plan.run(b, c);
  CHECK(c == std::vector<float>{110, 140, 0, 0, 90, 120});
}

TEST_CASE("C++ interface: leading dimensions, doubles and patterns") {
  const std::vector<double> values = {1, 2, 3};
  const sptile::Plan doubles({3, 3, kRowPtr, kCols, values}, {.n = 1, .dense = sptile::Type::f64});
  const std::vector<double> b = {1, 0, 2, 0, 3};  // ldb 2, the last row without padding
  std::vector<double> c(7, -1);
  doubles.run(b, c, {.ldb = 2, .ldc = 3});
  CHECK(c == std::vector<double>{7, -1, -1, 0, -1, -1, 6});
  const sptile::Plan pattern({.rows = 3, .cols = 3, .row_ptr = kRowPtr, .col_idx = kCols}, {.n = 1});
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y(3);
  pattern.run(x, y);
  CHECK(y == std::vector<float>{4, 0, 2});
}

TEST_CASE("C++ interface: plans move") {
  sptile::Plan a(small(), {.n = 1}), b(small(), {.n = 2});
  a = std::move(b);
  CHECK(a.n() == 2);
  const sptile::Plan c = std::move(a);
  CHECK(c.kernel().substr(0, 8) == "cpu.csr.");
}

TEST_CASE("C++ interface: what is wrong is thrown") {
  sptile::Plan plan(small(), {.n = 2});
  const std::vector<float> b(6), few(5);
  std::vector<float> c(6), c_few(5);
  const std::vector<double> doubles(6);
  CHECK(thrown([&] { plan.run(b, c); }) == SPTILE_OK);
  CHECK(thrown([&] { plan.run(few, c); }) == SPTILE_USAGE);
  CHECK(thrown([&] { plan.run(b, c_few); }) == SPTILE_USAGE);
  CHECK(thrown([&] { plan.run(doubles, c); }) == SPTILE_USAGE);
  CHECK(thrown([&] { plan.run(b, c, {.ldb = 1}); }) == SPTILE_USAGE);
  CHECK(thrown([&] { plan.run(b, c, {.ldc = 3}); }) == SPTILE_USAGE);
  CHECK(thrown([&] { plan.refresh(kValues); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sptile::Plan(small(), {.n = 0}); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sptile::Plan({2, 3, kRowPtr, kCols, kValues}, {.n = 1}); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sptile::Plan({3, 3, kRowPtr, kCols, few}, {.n = 1}); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sptile::Plan({3, 2, kRowPtr, kCols, kValues}, {.n = 1}); }) == SPTILE_BAD_INPUT);
  for (const auto make : {sptile::Plan::from_device, sptile::Plan::sddmm_from_device}) {
    CHECK(thrown([&] { make({2, 3, kRowPtr, kCols, kValues}, "csr", {.n = 1}); }) == SPTILE_USAGE);
    CHECK(thrown([&] { make({3, 3, kRowPtr, kCols, few}, "csr", {.n = 1}); }) == SPTILE_USAGE);
    CHECK(thrown([&] { make({3, 3, kRowPtr, kCols, kValues}, "csr", {.n = 1}); }) == SPTILE_USAGE);  // CPU
  }
  CHECK(thrown([&] { sptile::Bundle("no/such/file.h5"); }) == SPTILE_IO);
}

TEST_CASE("C++ interface: samples dot products, and multiplies with them") {
  const sptile::Plan sample = sptile::Plan::sddmm(small(), {.n = 2});
  CHECK(sample.entries() == 3);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {1, 1, 2, 0, 0, 3};
  std::vector<float> out(3);
  sample.sample(x, y, out);
  CHECK(out == std::vector<float>{3, 6, 10});
  sample.sample(x, y, out, {.alpha = 2, .beta = -1, .scaled = true});
  CHECK(out == std::vector<float>{3, 18, 50});
  sample.sample_stream(x.data(), y.data(), out.data(), nullptr);
  CHECK(out == std::vector<float>{3, 6, 10});
  const std::vector<float> wide = {1, 2, 9, 3, 4, 9, 5, 6};  // ldx 3, the last row without padding
  sample.sample(wide, y, out, {.beta = 1, .ldx = 3});
  CHECK(out == std::vector<float>{6, 12, 20});

  sptile::Plan plan(small(), {.n = 1, .refreshable = true});
  plan.refresh_packed(out);
  std::vector<float> c(3);
  plan.run(std::vector<float>{1, 2, 3}, c);
  CHECK(c == std::vector<float>{42, 0, 40});

  std::vector<float> shorter(2);
  std::vector<double> doubles(3);
  CHECK(thrown([&] { sample.sample(x, y, shorter); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sample.sample(x, y, doubles); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sample.sample(shorter, y, out); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sample.sample(x, shorter, out); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sample.sample(x, y, out, {.ldy = 1}); }) == SPTILE_USAGE);
  CHECK(thrown([&] { plan.sample(std::vector<float>(3), y, out); }) == SPTILE_USAGE);
  CHECK(thrown([&] { sample.run(x, c); }) == SPTILE_USAGE);
  CHECK(thrown([&] { plan.refresh_packed(shorter); }) == SPTILE_USAGE);
}
