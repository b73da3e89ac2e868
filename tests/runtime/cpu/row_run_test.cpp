// SpMM over csr whose values, B and C have one type: alignment of the operands, and sizes for which the
// kernels prefetch rows of B and write C with non-temporal stores.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "runtime/kernels/kernels.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Kernel;
using runtime::PlanOptions;

namespace {

constexpr std::size_t kLine = 64;

/// A copy of `size` bytes, `offset` bytes after the start of a cache line, with margins on both sides.
class Placed {
 public:
  Placed(const void* from, std::size_t size, std::size_t offset) : room_(size + 3 * kLine), size_(size) {
    start_ = room_.data() + kLine + (-reinterpret_cast<std::uintptr_t>(room_.data())) % kLine + offset;
    std::fill(room_.begin(), room_.end(), kAround);
    std::memcpy(start_, from, size);
  }
  [[nodiscard]] std::byte* data() { return start_; }
  [[nodiscard]] std::vector<std::byte> bytes() const { return {start_, start_ + size_}; }
  /// Whether nothing was written around the copy.
  [[nodiscard]] bool is_alone() const {
    const std::byte *const first = start_, *const end = room_.data() + room_.size();
    const auto untouched = [](std::byte x) { return x == kAround; };
    return std::all_of(room_.data(), first, untouched) && std::all_of(first + size_, end, untouched);
  }

 private:
  static constexpr std::byte kAround{0x7f};
  std::vector<std::byte> room_;
  std::size_t size_;
  std::byte* start_ = nullptr;
};

/// Returns a matrix with 0 to 4 nonzeros per row, whose rows of B exceed every cache.
formats::Csr scattered_matrix(std::int64_t rows, std::int64_t cols, DType dtype, Random& random) {
  std::vector<std::int32_t> col_idx;
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(rows + 1);
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto stride = static_cast<std::int32_t>(cols / 4);
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(random() % 5); ++k)
      col_idx.push_back(k * stride +
                        static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(stride)));
    a.row_ptr[r + 1] = std::ssize(col_idx);
  }
  a.col_idx = formats::Buffer<std::int32_t>(std::ssize(col_idx));
  std::copy(col_idx.begin(), col_idx.end(), a.col_idx.begin());
  a.values = random_values(a.nnz(), dtype, random);
  return a;
}

/// Returns C of `kernel`, with B and C at these offsets in bytes from a cache line. Checks that nothing
/// around C changes.
std::vector<std::byte> product(const formats::Csr& a, const Kernel& kernel, const Dense& dense,
                               std::size_t b_offset, std::size_t c_offset, double alpha = 1,
                               double beta = 0) {
  const Formatted formatted = format_matrix(a, kernel.format);
  const PlanOptions options{.n = dense.n, .dense = dense.types.operands, .kernel = kernel.name, .threads = 2};
  const auto plan = runtime::plan_spmm(formatted.matrix(), options);
  REQUIRE(plan);
  Placed b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()), b_offset);
  Placed c(dense.c.data(), static_cast<std::size_t>(dense.c.view().bytes()), c_offset);
  REQUIRE(runtime::run(**plan, {b.data(), dense.ldb, c.data(), dense.ldc, alpha, beta}));
  CHECK(c.is_alone());
  return c.bytes();
}

/// Rows `first` to `last` of a matrix.
formats::Csr rows_of(const formats::Csr& a, std::int64_t first, std::int64_t last) {
  const std::int64_t from = a.row_ptr[first], to = a.row_ptr[last];
  formats::Csr part;
  part.rows = last - first;
  part.cols = a.cols;
  part.row_ptr = formats::Buffer<std::int64_t>(part.rows + 1);
  for (std::int64_t r = 0; r <= part.rows; ++r) part.row_ptr[r] = a.row_ptr[first + r] - from;
  part.col_idx = formats::Buffer<std::int32_t>(to - from);
  std::copy(a.col_idx.begin() + from, a.col_idx.begin() + to, part.col_idx.begin());
  const auto size = static_cast<std::int64_t>(size_of(a.values.dtype()));
  part.values = formats::Array(a.values.dtype(), to - from);
  std::memcpy(part.values.data(), static_cast<const std::byte*>(a.values.data()) + from * size,
              static_cast<std::size_t>((to - from) * size));
  return part;
}

/// The same product, computed for a few rows at a time: their part of C fits into the cache.
std::vector<std::byte> product_in_parts(const formats::Csr& a, const Kernel& kernel, const Dense& dense) {
  constexpr std::int64_t kPart = 4000;
  std::vector<std::byte> c = dense.c_bytes();
  const auto stride = dense.ldc * static_cast<std::int64_t>(size_of(dense.types.result));
  for (std::int64_t first = 0; first < a.rows; first += kPart) {
    const formats::Csr part = rows_of(a, first, std::min(first + kPart, a.rows));
    const Formatted formatted = format_matrix(part, kernel.format);
    const PlanOptions options{
        .n = dense.n, .dense = dense.types.operands, .kernel = kernel.name, .threads = 2};
    const auto plan = runtime::plan_spmm(formatted.matrix(), options);
    REQUIRE(plan);
    REQUIRE(runtime::run(**plan, {dense.b.data(), dense.ldb, c.data() + first * stride, dense.ldc}));
  }
  return c;
}

/// Calls memcmp, because operator== compares std::byte one by one: slow without optimization.
bool same(const std::vector<std::byte>& x, const std::vector<std::byte>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}

double error_of(const formats::Csr& a, const Dense& dense, std::vector<std::byte> c, double alpha,
                double beta) {
  return runtime::relative_error(a.view(), dense.n, dense.types, operands(dense, c.data(), alpha, beta),
                                 dense.c_bytes().data());
}

}  // namespace

TEST_CASE("rows of csr: B and C may start anywhere in a cache line, nothing around C is written") {
  Random random(31);
  for (const DType type : {DType::f32, DType::f64}) {
    const formats::Csr a = random_matrix(37, 60, 0.2, type, random);
    for (const std::int64_t n : {1, 5, 16, 17, 32, 100, 128, 272, 300}) {
      CAPTURE(n);
      const Dense dense(a, n, type, random, 16 - n % 16);  // rows are whole lines apart
      for (const Kernel& kernel : kernels_of("csr")) {
        CAPTURE(kernel.name);
        const auto expected = product(a, kernel, dense, 0, 0, -0.5, 2);
        CHECK(error_of(a, dense, expected, -0.5, 2) <= runtime::tolerated_error(a.view(), type));
        for (std::size_t at = 0; at < kLine; at += size_of(type)) {
          CAPTURE(at);
          CHECK(product(a, kernel, dense, at, 0, -0.5, 2) == expected);
          CHECK(product(a, kernel, dense, 0, at, -0.5, 2) == expected);
          CHECK(product(a, kernel, dense, at, at, -0.5, 2) == expected);
        }
      }
    }
  }
}

TEST_CASE("rows of csr: a B and a C that no cache holds give the bits of a few rows at a time") {
  struct Size {
    DType type;
    std::int64_t rows, n;
  };
  constexpr std::size_t kPlaces[] = {0, 8, 16};
  Random random(32);
  // The last has rows of three blocks. C has 34 MB each time.
  for (const Size& size :
       {Size{DType::f32, 66'000, 128}, {DType::f64, 33'000, 128}, {DType::f32, 14'000, 608}}) {
    CAPTURE(size.n);
    const formats::Csr a = scattered_matrix(size.rows, 60'000, size.type, random);
    const Dense dense(a, size.n, size.type, random);
    for (const Kernel& kernel : kernels_of("csr")) {
      CAPTURE(kernel.name);
      const auto expected = product_in_parts(a, kernel, dense);
      for (const std::size_t at : kPlaces) CHECK(same(product(a, kernel, dense, at, at), expected));
      CHECK(same(product(a, kernel, dense, 0, 16), expected));
    }
  }
}
