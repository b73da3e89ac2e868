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

/// Status of the exception that f throws; SPTILE_STATUS_OK when it throws none.
template <class F>
sptile_status thrown(F f) {
  try {
    f();
    return SPTILE_STATUS_OK;
  } catch (const sptile::Exception& e) {
    CHECK(std::string(e.what()).size() > 0);
    return e.status();
  }
}

}  // namespace

TEST_CASE("C++ interface: plans, runs, refreshes and tells about a matrix in memory") {
  sptile::Matrix matrix(small(), {.refreshable = true});
  CHECK(matrix.rows() == 3);
  CHECK(matrix.cols() == 3);
  CHECK(matrix.nnz() == 3);
  CHECK(matrix.type() == sptile::Type::f32);
  CHECK(matrix.formats() == std::vector<std::string>{"csr"});
  CHECK(matrix.csr().row_ptr.size() == static_cast<std::size_t>(matrix.rows()) + 1);
  CHECK(matrix.csr().col_idx.size() == static_cast<std::size_t>(matrix.nnz()));
  CHECK(matrix.csr().values.type == matrix.type());
  const sptile::Plan plan = matrix.plan("spmm", {.n = 2, .kernel = "cpu.csr.generic"});
  CHECK(plan.rows() == 3);
  CHECK(plan.cols() == 3);
  CHECK(plan.n() == 2);
  CHECK(plan.operation() == "spmm");
  CHECK(plan.format() == "csr");
  CHECK(plan.kernel() == "cpu.csr.generic");
  CHECK(plan.precision() == sptile::Precision::fp32);
  CHECK(plan.workspace_bytes() == 0);
  const std::array<float, 6> b = {1, 2, 3, 4, 5, 6};
  std::vector<float> c(6);
  plan.run(b, c);
  CHECK(c == std::vector<float>{11, 14, 0, 0, 9, 12});
  plan.run(b, c, {.alpha = 2, .beta = 1});
  CHECK(c == std::vector<float>{33, 42, 0, 0, 27, 36});
  matrix.refresh(std::vector<float>{10, 20, 30});
  plan.run(b, c);
  CHECK(c == std::vector<float>{110, 140, 0, 0, 90, 120});
  plan.run({.dense = {{{b.data()}, {c.data()}}}, .alpha = 2});  // any operation, bare pointers
  CHECK(c == std::vector<float>{220, 280, 0, 0, 180, 240});
}

TEST_CASE("C++ interface: leading dimensions, doubles and patterns") {
  const std::vector<double> values = {1, 2, 3};
  sptile::Matrix in_double({3, 3, kRowPtr, kCols, values});
  const sptile::Plan doubles = in_double.plan("spmm", {.n = 1, .dense = sptile::Type::f64});
  const std::vector<double> b = {1, 0, 2, 0, 3};  // ldb 2, the last row without padding
  std::vector<double> c(7, -1);
  doubles.run(b, c, {.ldb = 2, .ldc = 3});
  CHECK(c == std::vector<double>{7, -1, -1, 0, -1, -1, 6});
  sptile::Matrix without({.rows = 3, .cols = 3, .row_ptr = kRowPtr, .col_idx = kCols});
  const sptile::Plan pattern = without.plan("spmm", {.n = 1});
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y(3);
  pattern.run(x, y);
  CHECK(y == std::vector<float>{4, 0, 2});
}

TEST_CASE("C++ interface: a plan serves fewer columns than it was made for") {
  sptile::Matrix matrix(small());
  const sptile::Plan plan = matrix.plan("spmm", {.n = 2}), sample = matrix.plan("sddmm", {.n = 2});
  CHECK(plan.least_n() == 1);
  CHECK(!plan.stored());
  const std::vector<float> b = {1, 2, 3};
  std::vector<float> c(3);
  plan.run(b, c, {.n = 1});
  CHECK(c == std::vector<float>{7, 0, 6});
  sample.sample(b, b, c, {.n = 1});
  CHECK(c == std::vector<float>{1, 3, 6});
  CHECK(thrown([&] { plan.run(b, c); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { plan.run(b, c, {.n = 3}); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { plan.run(b, c, {.n = -1}); }) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C++ interface: f32 results of 16-bit operands") {
  const std::vector<std::uint16_t> values = {0x3c00, 0x4000, 0x4200};  // 1, 2, 3
  const sptile::CsrMatrix a = {3, 3, kRowPtr, kCols, {sptile::Type::f16, values.data(), values.size()}};
  sptile::Matrix matrix(a);
  const sptile::Plan plan =
      matrix.plan("spmm", {.n = 1, .dense = sptile::Type::f16, .result = sptile::Type::f32});
  const std::vector<std::uint16_t> b = {0x3c00, 0x4000, 0x4200};
  std::vector<float> c = {0.0001F, 100000, 1};  // more than f16 can hold
  plan.run(b, c, {.beta = 1});
  CHECK(c == std::vector<float>{7.0001F, 100000, 7});
  std::vector<std::uint16_t> narrow(3);
  CHECK(thrown([&] { plan.run(b, narrow); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { static_cast<void>(matrix.plan("spmm", {.n = 1, .result = sptile::Type::f16})); }) ==
        SPTILE_STATUS_UNSUPPORTED);
}

TEST_CASE("C++ interface: matrices and plans move, and a plan outlives its matrix") {
  sptile::Matrix first(small()), second(small());
  sptile::Plan a = first.plan("spmm", {.n = 1}), b = second.plan("spmm", {.n = 2});
  first = std::move(second);
  { const sptile::Matrix gone = std::move(first); }
  a = std::move(b);
  CHECK(a.n() == 2);
  const sptile::Plan c = std::move(a);
  CHECK(c.kernel().substr(0, 8) == "cpu.csr.");
  std::vector<float> out(6);
  c.run(std::vector<float>{1, 2, 3, 4, 5, 6}, out);
  CHECK(out == std::vector<float>{11, 14, 0, 0, 9, 12});
}

TEST_CASE("C++ interface: a matrix is shared with other options") {
  sptile::Matrix matrix(small());
  sptile::Matrix other = matrix.share({.refreshable = true});
  other.refresh(std::vector<float>{10, 20, 30});
  const std::array<float, 3> b = {1, 1, 1};
  std::vector<float> c(3);
  other.plan("spmm", {.n = 1}).run(b, c);
  CHECK(c == std::vector<float>{30, 0, 30});
  matrix.plan("spmm", {.n = 1}).run(b, c);
  CHECK(c == std::vector<float>{3, 0, 3});
  CHECK(thrown([&] { static_cast<void>(matrix.share({.copy = true})); }) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C++ interface: what is wrong is thrown") {
  sptile::Matrix matrix(small());
  const sptile::Plan plan = matrix.plan("spmm", {.n = 2});
  const std::vector<float> b(6), few(5);
  std::vector<float> c(6), c_few(5);
  const std::vector<double> doubles(6);
  const auto planned = [](const sptile::CsrMatrix& a, const sptile::PlanOptions& options) {
    return thrown([&] { static_cast<void>(sptile::Matrix(a).plan("spmm", options)); });
  };
  CHECK(thrown([&] { plan.run(b, c); }) == SPTILE_STATUS_OK);
  CHECK(thrown([&] { plan.run(few, c); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { plan.run(b, c_few); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { plan.run(doubles, c); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { plan.run(b, c, {.ldb = 1}); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { plan.run(b, c, {.ldc = 3}); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { matrix.refresh(kValues); }) == SPTILE_STATUS_USAGE);
  CHECK(planned(small(), {.n = 0}) == SPTILE_STATUS_USAGE);
  CHECK(planned({2, 3, kRowPtr, kCols, kValues}, {.n = 1}) == SPTILE_STATUS_USAGE);
  CHECK(planned({3, 3, kRowPtr, kCols, few}, {.n = 1}) == SPTILE_STATUS_USAGE);
  CHECK(planned({3, 2, kRowPtr, kCols, kValues}, {.n = 1}) == SPTILE_STATUS_BAD_INPUT);
  sptile::CsrMatrix elsewhere = small();
  elsewhere.device = sptile::Device::cuda;
  CHECK(planned(elsewhere, {.n = 1}) != SPTILE_STATUS_OK);  // there is no device, or it is not for the CPU
  CHECK(thrown([&] { sptile::Matrix("no/such/file.h5"); }) == SPTILE_STATUS_IO);
  CHECK(thrown([&] { static_cast<void>(matrix.plan("none", {.n = 1})); }) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C++ interface: matrices of a batch are one operand") {
  const std::vector<float> tens = {10, 20, 30};
  const std::vector<sptile::CsrMatrix> parts = {small(), {3, 3, kRowPtr, kCols, tens}};
  sptile::Matrix diagonal = sptile::Matrix::block_diagonal(parts, {.refreshable = true});
  CHECK(diagonal.rows() == 6);
  CHECK(diagonal.cols() == 6);
  CHECK(diagonal.nnz() == 6);
  const sptile::Plan plan = diagonal.plan("spmm", {.n = 1});
  std::vector<float> c(6);
  plan.run(std::vector<float>{1, 2, 3, 4, 5, 6}, c);
  CHECK(c == std::vector<float>{7, 0, 6, 160, 0, 150});
  diagonal.refresh(std::vector<float>{1, 1, 1, 2, 2, 2});
  plan.run(std::vector<float>{1, 2, 3, 4, 5, 6}, c);
  CHECK(c == std::vector<float>{4, 0, 2, 20, 0, 10});

  sptile::Matrix stacked = sptile::Matrix::stacked(parts);
  CHECK(stacked.rows() == 6);
  CHECK(stacked.cols() == 3);
  stacked.plan("spmm", {.n = 1}).run(std::vector<float>{1, 2, 3}, c);
  CHECK(c == std::vector<float>{7, 0, 6, 70, 0, 60});
}

TEST_CASE("C++ interface: a bad matrix of a batch is named") {
  const auto message = [](const std::vector<sptile::CsrMatrix>& parts) -> std::string {
    try {
      static_cast<void>(sptile::Matrix::block_diagonal(parts));
      return "";
    } catch (const sptile::Exception& e) {
      return e.what();
    }
  };
  CHECK(message({small(), {2, 3, kRowPtr, kCols, kValues}})
            .starts_with("matrix 1 of the batch: row_ptr has 4"));
  CHECK(message({small(), small(), {3, 2, kRowPtr, kCols, kValues}})
            .starts_with("matrix 2 of the batch: csr: col_idx[1] = 2"));
  CHECK(message({}).starts_with("empty batch"));
  CHECK(message({small()}) == "");
}

TEST_CASE("C++ interface: samples dot products, and multiplies with them") {
  sptile::Matrix matrix(small(), {.refreshable = true});
  const sptile::Plan sample = matrix.plan("sddmm", {.n = 2});
  CHECK(sample.entries() == 3);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {1, 1, 2, 0, 0, 3};
  std::vector<float> out(3);
  sample.sample(x, y, out);
  CHECK(out == std::vector<float>{3, 6, 10});
  sample.sample(x, y, out, {.alpha = 2, .beta = -1, .scaled = true});
  CHECK(out == std::vector<float>{3, 18, 50});
  const std::vector<float> wide = {1, 2, 9, 3, 4, 9, 5, 6};  // ldx 3, the last row without padding
  sample.sample(wide, y, out, {.beta = 0, .ldx = 3});
  CHECK(out == std::vector<float>{3, 6, 10});
  sample.sample(wide, y, out, {.beta = 1, .ldx = 3});
  CHECK(out == std::vector<float>{6, 12, 20});

  const sptile::Plan plan = matrix.plan("spmm", {.n = 1});
  matrix.refresh(out, sample);
  std::vector<float> c(3);
  plan.run(std::vector<float>{1, 2, 3}, c);
  CHECK(c == std::vector<float>{42, 0, 40});

  std::vector<float> shorter(2);
  std::vector<double> doubles(3);
  CHECK(thrown([&] { sample.sample(x, y, shorter); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { sample.sample(x, y, doubles); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { sample.sample(shorter, y, out); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { sample.sample(x, shorter, out); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { sample.sample(x, y, out, {.ldy = 1}); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { plan.sample(std::vector<float>(3), y, out); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { sample.run(x, c); }) == SPTILE_STATUS_USAGE);
  CHECK(thrown([&] { matrix.refresh(shorter, sample); }) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C++ interface: a layer of a graph network and its gradients") {
  sptile::Matrix matrix(small());
  const std::vector<float> b = {1, 2, 3}, w = {1, -1}, bias = {0, 1}, dc(6, 1.0F);
  std::vector<float> z(3), c(6), g(6), dbias(2), dw(2);
  const sptile::PlanOptions options = {.n = 1,
                                       .attributes = {{"m", 2}, {"activation", SPTILE_ACTIVATION_RELU}}};
  const sptile::Plan forward = matrix.plan("spmm_update", options);
  forward.run({.dense = {{{b.data()}, {w.data()}, {bias.data()}, {z.data()}, {c.data()}}}});
  CHECK(z == std::vector<float>{7, 0, 6});
  CHECK(c == std::vector<float>{7, 0, 0, 1, 6, 0});
  const sptile::Plan back = matrix.plan("update_gradient", options);
  back.run({.dense = {{{z.data()}, {dc.data()}, {c.data()}, {g.data()}, {dbias.data()}, {dw.data()}}}});
  CHECK(g == std::vector<float>{1, 0, 0, 1, 1, 0});
  CHECK(dbias == std::vector<float>{2, 1});
  CHECK(dw == std::vector<float>{13, 0});
  CHECK(thrown([&] {
          back.run({.dense = {{{z.data()}, {dc.data()}, {}, {}, {}, {dw.data()}}}});
        }) == SPTILE_STATUS_USAGE);
}
