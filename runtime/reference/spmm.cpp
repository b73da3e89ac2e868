#include "runtime/reference/spmm.hpp"

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace sptile::runtime {
namespace {

double read(DType dtype, const void* data, std::int64_t i) {
  switch (dtype) {
    case DType::f16:
      return to_float(static_cast<const Half*>(data)[i]);
    case DType::bf16:
      return to_float(static_cast<const BFloat16*>(data)[i]);
    case DType::f32:
      return static_cast<const float*>(data)[i];
    case DType::f64:
      return static_cast<const double*>(data)[i];
    default:
      assert(!"a value type");
      return 0;
  }
}

/// Rounds a double to float, to odd: the last bit remembers that something was cut off, so rounding on to 16
/// bits gives what rounding once would have given.
float to_float_odd(double x) {
  const auto nearest = static_cast<float>(x);
  if (!std::isfinite(x) || static_cast<double>(nearest) == x) return nearest;
  const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
  const float cut = away ? std::nextafterf(nearest, 0.0F) : nearest;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(cut) | 1U);
}

void write(DType dtype, void* data, std::int64_t i, double x) {
  switch (dtype) {
    case DType::f16:
      static_cast<Half*>(data)[i] = to_half(to_float_odd(x));
      break;
    case DType::bf16:
      static_cast<BFloat16*>(data)[i] = to_bfloat16(to_float_odd(x));
      break;
    case DType::f32:
      static_cast<float*>(data)[i] = static_cast<float>(x);
      break;
    case DType::f64:
      static_cast<double*>(data)[i] = x;
      break;
    default:
      assert(!"a value type");
  }
}

double rounded(DType dtype, double x) {
  double storage = 0;
  write(dtype, &storage, 0, x);
  return read(dtype, &storage, 0);
}

/// Sums of one row: the products, and their absolute values.
struct RowSums {
  std::vector<double> sum, absolute;

  explicit RowSums(std::int64_t n)
      : sum(static_cast<std::size_t>(n)), absolute(static_cast<std::size_t>(n)) {}

  void compute(const formats::CsrView& a, std::int64_t row, DType dense, const SpmmOperands& operands) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(absolute.begin(), absolute.end(), 0.0);
    const auto n = static_cast<std::int64_t>(sum.size());
    const auto r = static_cast<std::size_t>(row);
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const double value = a.is_pattern() ? 1.0 : read(a.values.dtype, a.values.data, k);
      const std::int64_t b_row = a.col_idx[static_cast<std::size_t>(k)] * operands.ldb;
      for (std::int64_t j = 0; j < n; ++j) {
        const double product = value * read(dense, operands.b, b_row + j);
        sum[static_cast<std::size_t>(j)] += product;
        absolute[static_cast<std::size_t>(j)] += std::fabs(product);
      }
    }
  }
};

/// Smallest normal number: rounding to the type is relative above it and absolute below.
double smallest_normal(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x1p-14;
    case DType::f64:
      return DBL_MIN;
    default:
      return FLT_MIN;  // bf16 has the exponents of f32
  }
}

/// Half the distance from 1 to the next number.
double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    case DType::f64:
      return 0x1p-53;
    default:
      return 0x1p-24;
  }
}

double element_error(DType dense, double computed, double reference, double scale) {
  const double target = rounded(dense, reference);
  if (std::isfinite(computed) && std::isfinite(target))
    return std::fabs(computed - reference) / (scale + smallest_normal(dense));
  const bool same = (std::isnan(computed) && std::isnan(target)) || computed == target;
  return same ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace

void reference_spmm(const formats::CsrView& a, std::int64_t n, DType dense, const SpmmOperands& operands) {
  assert(n >= 1 && operands.ldb >= n && operands.ldc >= n);
  RowSums row(n);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    row.compute(a, r, dense, operands);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = r * operands.ldc + j;
      double x = operands.alpha * row.sum[static_cast<std::size_t>(j)];
      if (operands.beta != 0) x += operands.beta * read(dense, operands.c, at);
      write(dense, operands.c, at, x);
    }
  }
}

double relative_error(const formats::CsrView& a, std::int64_t n, DType dense, const SpmmOperands& computed,
                      const void* c_before) {
  assert(n >= 1 && computed.ldb >= n && computed.ldc >= n);
  assert(computed.beta == 0 || c_before != nullptr || a.rows == 0);
  double worst = 0;
  RowSums row(n);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    row.compute(a, r, dense, computed);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = r * computed.ldc + j;
      const double before = computed.beta != 0 ? computed.beta * read(dense, c_before, at) : 0;
      const double reference = computed.alpha * row.sum[static_cast<std::size_t>(j)] + before;
      const double scale =
          std::fabs(computed.alpha) * row.absolute[static_cast<std::size_t>(j)] + std::fabs(before);
      worst = std::max(worst, element_error(dense, read(dense, computed.c, at), reference, scale));
    }
  }
  return worst;
}

double tolerated_error(const formats::CsrView& a, DType dense) {
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) longest = std::max(longest, a.row_nnz(r));
  const double accumulator = unit_roundoff(dense == DType::f64 ? DType::f64 : DType::f32);
  return 2 * (static_cast<double>(longest + 3) * accumulator + unit_roundoff(dense));
}

}  // namespace sptile::runtime
