// Random products for tests of the runtime: a matrix, its formats, dense operands, and expected results.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/csr.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/plan/spmm.hpp"
#include "runtime/reference/spmm.hpp"

namespace sptile::test {

using Random = std::mt19937_64;

inline double uniform(Random& random) { return std::uniform_real_distribution<double>(-1, 1)(random); }

/// Returns ids from -1 to 15, of which most occur in small matrices.
inline formats::Array random_ids(std::int64_t size, Random& random) {
  formats::Array ids(DType::i32, size);
  for (std::int32_t& id : ids.as<std::int32_t>()) id = std::uniform_int_distribution<>(-1, 15)(random);
  return ids;
}

/// Returns random elements of a value type (none: absent), or ids.
inline formats::Array random_values(std::int64_t size, DType dtype, Random& random) {
  if (dtype == DType::none) return {};
  if (dtype == DType::i32) return random_ids(size, random);
  formats::Array exact(DType::f64, size);
  for (double& x : exact.as<double>()) x = uniform(random);
  return formats::convert_values(exact.view(), dtype);
}

/// Keeps entry (r, c) with probability density(r, c).
inline formats::Csr random_matrix(std::int64_t rows, std::int64_t cols, DType dtype, Random& random,
                                  const std::function<double(std::int64_t r, std::int64_t c)>& density) {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c)
      if (std::uniform_real_distribution<double>()(random) < density(r, c))
        col_idx.push_back(static_cast<std::int32_t>(c));
    row_ptr.push_back(std::ssize(col_idx));
  }
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(std::ssize(row_ptr));
  a.col_idx = formats::Buffer<std::int32_t>(std::ssize(col_idx));
  std::copy(row_ptr.begin(), row_ptr.end(), a.row_ptr.begin());
  std::copy(col_idx.begin(), col_idx.end(), a.col_idx.begin());
  a.values = random_values(a.nnz(), dtype, random);
  return a;
}

inline formats::Csr random_matrix(std::int64_t rows, std::int64_t cols, double density, DType dtype,
                                  Random& random) {
  return random_matrix(rows, cols, dtype, random, [=](std::int64_t, std::int64_t) { return density; });
}

/// Matrices of many shapes and densities.
struct RandomShape {
  std::int64_t rows, cols;
  double density;
};
inline constexpr RandomShape kRandomShapes[] = {{1, 1, 1},     {1, 1, 0},        {3, 5, 0.5},
                                                {7, 300, 0.1}, {8, 8, 0.9},      {64, 64, 0.02},
                                                {65, 33, 0.3}, {129, 257, 0.05}, {300, 7, 0.4}};

inline std::vector<std::int32_t> random_order(std::int64_t rows, Random& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// A matrix in one format, rows reordered, ready to plan.
struct Formatted {
  formats::FormatData data;
  std::vector<std::int32_t> order;
  formats::Array value_source;

  [[nodiscard]] runtime::PlanMatrix matrix() const {
    return {data.view(), order, value_source.view(), nullptr};
  }
};

inline Formatted format_matrix(const formats::Csr& a, const formats::Conversion& conversion,
                               std::vector<std::int32_t> order = {}) {
  Formatted result;
  result.order = std::move(order);
  if (result.order.empty()) {
    result.data = std::move(*conversion(a.view(), nullptr));
    return result;
  }
  const formats::Csr permuted = formats::permute_rows(a.view(), result.order);
  std::vector<std::int64_t> position;
  for (const std::int32_t row : result.order)
    for (std::int64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) position.push_back(k);
  result.data = std::move(*conversion(permuted.view(), nullptr));
  result.value_source = std::move(*formats::value_source(conversion, permuted.view(), position));
  return result;
}

inline Formatted format_matrix(const formats::Csr& a, std::string_view format,
                               std::vector<std::int32_t> order = {}) {
  return format_matrix(a, formats::find_converter(format)->from_csr, std::move(order));
}

/// B and C with leading dimensions; C is filled with numbers that a run may have to keep.
struct Dense {
  std::int64_t n = 0, ldb = 0, ldc = 0;
  runtime::DenseTypes types;
  formats::Array b, c;

  Dense(const formats::Csr& a, std::int64_t columns, const runtime::DenseTypes& of, Random& random,
        std::int64_t pad = 0)
      : n(columns),
        ldb(columns + pad),
        ldc(columns + 2 * pad),
        types(of),
        b(random_values(std::max<std::int64_t>(1, a.cols * ldb), of.operands, random)),
        c(random_values(std::max<std::int64_t>(1, a.rows * ldc), of.result, random)) {}

  [[nodiscard]] std::vector<std::byte> c_bytes() const {
    const auto* bytes = static_cast<const std::byte*>(c.data());
    return {bytes, bytes + c.view().bytes()};
  }
};

/// Returns the SpMM kernels of a format that this machine can run, one per instruction set.
inline std::vector<runtime::Kernel> kernels_of(std::string_view format) {
  std::vector<runtime::Kernel> rows;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (runtime::is_for(kernel, runtime::kSpmm, format, runtime::Device::cpu, {}) && available(kernel))
      rows.push_back(kernel);
  return rows;
}

/// Returns the SpMM kernel of csr for the instruction set of tile kernels, which produces the same bits.
inline std::string_view csr_kernel_like_tiles() {
  const std::string_view isa = runtime::find_kernel(runtime::kSpmm, "bittcf", runtime::Device::cpu)->isa;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (runtime::is_for(kernel, runtime::kSpmm, "csr", runtime::Device::cpu, {}) && kernel.isa == isa)
      return kernel.name;
  return {};
}

inline runtime::SpmmOperands operands(const Dense& dense, void* c, double alpha = 1, double beta = 0) {
  return {dense.b.data(), dense.ldb, c, dense.ldc, alpha, beta};
}

}  // namespace sptile::test
