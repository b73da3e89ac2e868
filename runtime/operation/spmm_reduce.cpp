#include "runtime/operation/spmm_reduce.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/reference/element.hpp"
#include "runtime/reference/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kReduceOperands[] = {
    {"B", Extent::cols},
    {.name = "arg", .extent = Extent::rows, .result = true, .optional = true, .element = Element::index},
    {"C", Extent::rows, true}};
constexpr OperandSpec kOperandsOfValues[] = {
    {"G", Extent::rows},
    {.name = "arg", .extent = Extent::rows, .element = Element::index},
    {"B", Extent::cols},
    {.name = "dvalues", .extent = Extent::entries, .result = true}};
constexpr OperandSpec kOperandsOfB[] = {{"G", Extent::cols},
                                        {.name = "arg", .extent = Extent::cols, .element = Element::index},
                                        {"dB", Extent::rows, true}};

constexpr double kIndexBytes = 4;

/// Writes C and arg once. Partial results have the type of the sums and an index.
Work work_of_reduction(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  return {s.heads * rows * s.n * (s.result_bytes + kIndexBytes), s.slices,
          static_cast<double>(s.pieces) * (s.row_bytes + kIndexBytes * s.n)};
}

/// Writes dB once.
Work work_of_transposed(const ProductSizes& s) {
  return {s.heads * static_cast<double>(s.rows) * s.n * s.result_bytes, s.slices,
          static_cast<double>(s.pieces) * s.row_bytes};
}

/// Reads G and arg and writes a number per entry once.
Work work_of_values(const ProductSizes& s) {
  return {s.heads * (static_cast<double>(s.rows) * s.n * (s.result_bytes + kIndexBytes) +
                     static_cast<double>(s.nnz) * s.result_bytes)};
}

double value_of(const ReferenceProduct& p, std::int64_t k) {
  return p.a.is_pattern() ? 1.0 : read_element(p.a.values.dtype, p.a.values.data, k);
}

/// Rounds to the type in which kernels multiply and compare, so that the same product is the largest.
double rounded(const ReferenceProduct& p, double x) {
  return p.types.operands == DType::f64 ? x : static_cast<double>(static_cast<float>(x));
}

/// Returns whether a product replaces the best one before it; `sign` is -1 for minima.
bool replaces(double product, double best, double sign) {
  return sign * product > sign * best || (std::isnan(product) && !std::isnan(best));
}

struct Best {
  double product = 0;
  std::int32_t column = -1;
};

Best best_of_row(const ReferenceProduct& p, const Operand& b, std::int64_t row, std::int64_t j, double sign) {
  const auto r = static_cast<std::size_t>(row);
  Best best;
  for (std::int64_t k = p.a.row_ptr[r]; k < p.a.row_ptr[r + 1]; ++k) {
    const std::int32_t column = p.a.col_idx[static_cast<std::size_t>(k)];
    const double product =
        rounded(p, rounded(p, value_of(p, k)) * read_element(p.types.operands, b.data, column * b.ld + j));
    if (best.column < 0 || replaces(product, best.product, sign)) best = {product, column};
  }
  return best;
}

template <int kSign>
void reference_of_reduction(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                            const ResultSink& sink) {
  const Operand &b = operands.dense[kReduceB], &arg = operands.dense[kReduceArg],
                &c = operands.dense[kReduceC];
  for (std::int64_t r = 0; r < p.a.rows; ++r)
    for (std::int64_t j = 0; j < p.n; ++j) {
      const Best best = best_of_row(p, b, r, j, kSign);
      sink(arg.data, DType::i32, r * arg.ld + j, {static_cast<double>(best.column)});
      const double result = operands.alpha * best.product;
      sink(c.data, p.types.result, r * c.ld + j, {result, std::fabs(result)});
    }
}

std::int32_t read_index(const Operand& arg, std::int64_t row, std::int64_t j) {
  return static_cast<const std::int32_t*>(arg.data)[row * arg.ld + j];
}

void reference_of_transposed(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                             const ResultSink& sink) {
  const Operand &g = operands.dense[kReduceTransposedG], &arg = operands.dense[kReduceTransposedArg],
                &to = operands.dense[kReduceTransposedB];
  for (std::int64_t r = 0; r < p.a.rows; ++r)
    for (std::int64_t j = 0; j < p.n; ++j) {
      ReferenceNumber sum;
      for (std::int64_t k = p.a.row_ptr[static_cast<std::size_t>(r)];
           k < p.a.row_ptr[static_cast<std::size_t>(r) + 1]; ++k) {
        const std::int64_t column = p.a.col_idx[static_cast<std::size_t>(k)];
        if (read_index(arg, column, j) != r) continue;
        const double product = value_of(p, k) * read_element(p.types.operands, g.data, column * g.ld + j);
        sum.value += product;
        sum.scale += std::fabs(product);
      }
      sink(to.data, p.types.result, r * to.ld + j,
           {operands.alpha * sum.value, std::fabs(operands.alpha) * sum.scale});
    }
}

void reference_of_values(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                         const ResultSink& sink) {
  const Operand &g = operands.dense[kReduceGradientG], &arg = operands.dense[kReduceGradientArg],
                &b = operands.dense[kReduceGradientB];
  for (std::int64_t r = 0; r < p.a.rows; ++r)
    for (std::int64_t k = p.a.row_ptr[static_cast<std::size_t>(r)];
         k < p.a.row_ptr[static_cast<std::size_t>(r) + 1]; ++k) {
      const std::int32_t column = p.a.col_idx[static_cast<std::size_t>(k)];
      ReferenceNumber sum;
      for (std::int64_t j = 0; j < p.n; ++j) {
        if (read_index(arg, r, j) != column) continue;
        const double product = read_element(p.types.operands, g.data, r * g.ld + j) *
                               read_element(p.types.operands, b.data, column * b.ld + j);
        sum.value += product;
        sum.scale += std::fabs(product);
      }
      const std::int64_t at = p.packed.empty() ? k : p.packed[static_cast<std::size_t>(k)];
      sink(operands.dense[kReduceGradientValues].data, p.types.result, at,
           {operands.alpha * sum.value, std::fabs(operands.alpha) * sum.scale});
    }
}

std::int64_t one_product(const ReferenceProduct& /*p*/) { return 1; }
std::int64_t sum_of_row(const ReferenceProduct& p) { return longest_row(p.a); }
std::int64_t sum_of_columns(const ReferenceProduct& p) { return p.n; }

template <int kSign>
constexpr Operation reduction(std::string_view name, std::string_view title, std::string_view summary) {
  return {.name = name,
          .title = title,
          .summary = summary,
          .operands = kReduceOperands,
          .adds = false,
          .work = work_of_reduction,
          .reference = reference_of_reduction<kSign>,
          .longest_sum = one_product};
}

}  // namespace

constexpr Operation kSpmmMax =
    reduction<1>("spmm_max", "maximum over rows", "C = maximum of A_ij B_j over the row");
constexpr Operation kSpmmMin =
    reduction<-1>("spmm_min", "minimum over rows", "C = minimum of A_ij B_j over the row");

constexpr Operation kSpmmMaxGradient = {.name = "spmm_max_gradient",
                                        .title = "gradient of maxima, of values",
                                        .summary = "dvalues = G B^T at the entries that arg names",
                                        .operands = kOperandsOfValues,
                                        .uses_values = false,
                                        .adds = false,
                                        .standalone = false,
                                        .work = work_of_values,
                                        .reference = reference_of_values,
                                        .longest_sum = sum_of_columns};

constexpr Operation kSpmmMaxGradientT = {.name = "spmm_max_gradient_t",
                                         .title = "gradient of maxima, of B",
                                         .summary = "dB = A^T G at the entries that arg names",
                                         .operands = kOperandsOfB,
                                         .adds = false,
                                         .standalone = false,
                                         .row_local = false,  // depends on the ids of rows
                                         .work = work_of_transposed,
                                         .reference = reference_of_transposed,
                                         .longest_sum = sum_of_row};

}  // namespace sptile::runtime
