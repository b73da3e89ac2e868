// What an operation is: its operands, its work, and the obvious program that every kernel is compared with.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/csr_view.hpp"
#include "runtime/operands.hpp"

namespace sptile::runtime {

/// How many rows an operand has.
enum class Extent {
  rows,    ///< as A has rows, in the original order: rows x n
  cols,    ///< as A has columns: cols x n
  entries  ///< a list with a number for each entry of A, in the order in which the format stores its values
};

/// One dense operand.
struct OperandSpec {
  std::string_view name;  ///< "B"
  Extent extent;
  bool result = false;  ///< written; read, too, where beta is not 0
};

/// Sizes that the work of a product follows from.
struct ProductSizes {
  std::int64_t rows = 0, nnz = 0;  ///< of A
  std::int64_t units = 0;          ///< windows, or rows where there are none
  std::int64_t pieces = 0;         ///< that long units are cut into
  double row_bytes = 0;            ///< of a row of a dense operand that is read
  double n = 0;                    ///< columns of the dense operands
  double result_bytes = 0;         ///< of an element of the result
  double slices = 0;               ///< of the columns of B that are multiplied one after the other
};

/// What depends on the operation, beside fetching rows of its operand with Extent::cols: see CostFeatures.
struct Work {
  double streamed = 0;  ///< bytes of dense operands and results that go by once
  double decodings = 1;
  double partial = 0;  ///< bytes of sums of pieces
};

/// A product as references take it: A in the original row order.
struct ReferenceProduct {
  formats::CsrView a;
  std::int64_t n = 0;
  DenseTypes types = {};
  /// Where a result with Extent::entries has the number of each entry, see formats::packed_positions; empty:
  /// in the order of `a`.
  std::span<const std::int64_t> packed = {};
};

/// One row of the table. Its own pair of files defines it; operation.cpp lists it.
struct Operation {
  std::string_view name;                  ///< "spmm": command line, JSON
  std::string_view title;                 ///< "SpMM": for people
  std::string_view summary;               ///< "C = A B"
  std::span<const OperandSpec> operands;  ///< the result last
  bool uses_values = true;                ///< multiplies by the values of A, whether it is told to or not
  Work (*work)(const ProductSizes&);

  /// Computes the result serially with double products and sums, rounded once. O(nnz n).
  void (*reference)(const ReferenceProduct&, const Operands&);
  /// Measures how wrong a result is: largest error over what rounding errors are proportional to, see
  /// element_error. `before` is the result before the run, read where beta is not 0.
  double (*error)(const ReferenceProduct&, const Operands& computed, const void* before);
  /// Products in the longest sum: a correct kernel's error is at most tolerated_sum_error of it.
  std::int64_t (*longest_sum)(const ReferenceProduct&);

  [[nodiscard]] const OperandSpec& result() const { return operands.back(); }
};

/// All operations.
std::span<const Operation* const> operations();

/// Finds one by name; nullptr when there is none.
const Operation* find_operation(std::string_view name);

/// Rows of an operand, or numbers of a list, for a matrix of these sizes.
std::int64_t extent_of(const OperandSpec& operand, std::int64_t rows, std::int64_t cols, std::int64_t nnz);

/// Elements of a row of an operand: n, or 1 of a list.
constexpr std::int64_t width_of(const OperandSpec& operand, std::int64_t n) {
  return operand.extent == Extent::entries ? 1 : n;
}

constexpr DType type_of(const OperandSpec& operand, const DenseTypes& types) {
  return operand.result ? types.result : types.operands;
}

}  // namespace sptile::runtime
