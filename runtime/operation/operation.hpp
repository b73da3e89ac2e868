// Definition of an operation: operands, work, and the serial reference for all kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/core/options.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Number of rows of an operand.
enum class Extent {
  rows,     ///< rows of A, in original order: rows x n
  cols,     ///< columns of A: cols x n
  entries,  ///< a list with one number per entry of A, in packed order
  inner,    ///< n rows: weights by which rows of n columns are multiplied
  one,      ///< one row
  features  ///< a row per entry of A, in packed order: nnz x n
};

/// Number of columns of an operand.
enum class Width { n, m, one, two };

/// Element type of an operand.
enum class Element {
  usual,      ///< DenseTypes::result for results, otherwise DenseTypes::operands
  operand,    ///< DenseTypes::operands, for results too
  statistic,  ///< f32, or f64 for f64 operands
  index       ///< i32: ids of rows or columns
};

/// One dense operand.
struct OperandSpec {
  std::string_view name;  ///< for example "B"
  Extent extent;
  bool result = false;  ///< written, and read if beta is not 0
  Width width = Width::n;
  bool optional = false;  ///< may be null
  bool shared = false;    ///< shared by all heads of a run without a head stride
  Element element = Element::usual;
};

/// Sizes that determine the work of a product.
struct ProductSizes {
  std::int64_t rows = 0, nnz = 0;  ///< sizes of A
  std::int64_t units = 0;          ///< windows, or rows in formats without windows
  std::int64_t pieces = 0;         ///< segments into which long units are split
  double row_bytes = 0;            ///< bytes of a row of the dense operands that are read
  double n = 0;                    ///< columns of the dense operands
  double m = 0, heads = 1;         ///< see RunSizes
  double result_bytes = 0;         ///< bytes of an element of the result
  double slices = 0;               ///< slices of columns of B that are multiplied in sequence
};

/// Work that depends on the operation, except loads of rows of the operand with Extent::cols; see
/// CostFeatures.
struct Work {
  double streamed = 0;  ///< bytes of dense operands and results that are accessed once
  double decodings = 1;
  double partial = 0;  ///< bytes of partial sums
};

/// Arguments of a reference: A in original row order, and the variant.
struct ReferenceProduct {
  formats::CsrView a;
  std::int64_t n = 0;
  DenseTypes types = {};
  Variant variant = {};
  /// Output position of each entry of `a` in results with Extent::entries, see formats::packed_positions;
  /// empty: in the order of `a`.
  std::span<const std::int64_t> packed = {};
};

/// A row of the table of operations. Operations are defined in their own files and listed in operation.cpp.
struct Operation {
  std::string_view name;                  ///< name on the command line and in JSON, for example "spmm"
  std::string_view title;                 ///< displayed name, for example "SpMM"
  std::string_view summary;               ///< for example "C = A B"
  std::span<const OperandSpec> operands;  ///< the result last
  bool uses_values = true;                ///< always multiplies by the values of A
  bool adds = true;                       ///< supports beta: result = alpha * computed + beta * result
  bool standalone = true;  ///< operands may be arbitrary numbers, not only results of another operation
  bool row_local = true;  ///< a row of the results depends only on the same row of operands with Extent::rows
  Work (*work)(const ProductSizes&);

  /// Computes the results of one head serially, with products and sums in double, and passes each number to
  /// the sink, in an order that depends only on sizes and null operands. `before` is the result before the
  /// run, read if beta is not 0. O(nnz n).
  void (*reference)(const ReferenceProduct&, const Operands&, const void* before, const ResultSink&);
  /// Returns the number of products in the longest sum, from which tolerated_sum_error bounds the error of a
  /// correct kernel.
  std::int64_t (*longest_sum)(const ReferenceProduct&);

  /// Checks the options of a plan; may be null.
  Status (*check)(const PlanOptions&) = nullptr;
  /// Checks the operands of a run, whose shapes are valid; may be null.
  Status (*check_run)(const PlanOptions&, const Operands&) = nullptr;
  /// The operation sums over rows, so CPU chunks are columns of operands with Width::n, each with all rows.
  bool by_columns = false;

  [[nodiscard]] const OperandSpec& result() const { return operands.back(); }
};

/// Returns all operations.
std::span<const Operation* const> operations();

/// Returns an operation by name; nullptr if there is none.
const Operation* find_operation(std::string_view name);

/// Computes the reference and writes it, rounded once, to the results among the operands.
void write_reference(const Operation& op, const ReferenceProduct& product, const Operands& operands);

/// Returns the maximum element_error of the results. `before` is the result before the run, read if beta is
/// not 0.
double measure_error(const Operation& op, const ReferenceProduct& product, const Operands& computed,
                     const void* before = nullptr);

/// Sizes of the matrix and of a run.
struct OperandSizes {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  RunSizes run = {};
  bool transposed_weights = false;
};

/// Rows and columns of an operand; a list has one column.
struct OperandShape {
  std::int64_t rows = 0, width = 0;
};
OperandShape shape_of(const OperandSpec& operand, const OperandSizes& sizes);

/// Returns the number of elements of an operand with contiguous heads and rows; nullopt if it exceeds 2^63.
std::optional<std::int64_t> elements_of(const OperandSpec& operand, const OperandSizes& sizes);

/// Returns the distance between the heads of an operand in elements, including the default for batch = 0.
std::int64_t batch_of(const OperandSpec& operand, const Operand& given, const OperandSizes& sizes);

/// Returns the operands of one head.
Operands operands_of_head(const Operation& op, const Operands& all, std::int64_t head,
                          const OperandSizes& sizes, const DenseTypes& types, DType values);

constexpr DType type_of(const OperandSpec& operand, const DenseTypes& types) {
  if (operand.element == Element::index) return DType::i32;
  if (operand.element == Element::statistic) return types.operands == DType::f64 ? DType::f64 : DType::f32;
  return operand.result && operand.element == Element::usual ? types.result : types.operands;
}

}  // namespace sptile::runtime
