// What an operation is: its operands, its work, and the obvious program that every kernel is compared with.
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

/// How many rows an operand has.
enum class Extent {
  rows,     ///< as A has rows, in the original order: rows x n
  cols,     ///< as A has columns: cols x n
  entries,  ///< a list with a number for each entry of A, in the order in which the format stores its values
  inner,    ///< n rows, as the weights that rows of n columns are multiplied by
  one       ///< one row
};

/// How many columns it has.
enum class Width { n, m, one, two };

/// What its elements are.
enum class Element {
  usual,     ///< DenseTypes::result of a result, else DenseTypes::operands
  operand,   ///< DenseTypes::operands, of a result, too
  statistic  ///< f32, or f64 beside operands of f64
};

/// One dense operand.
struct OperandSpec {
  std::string_view name;  ///< "B"
  Extent extent;
  bool result = false;  ///< written; read, too, where beta is not 0
  Width width = Width::n;
  bool optional = false;  ///< may be null
  bool shared = false;    ///< all heads have the same
  Element element = Element::usual;
};

/// Sizes that the work of a product follows from.
struct ProductSizes {
  std::int64_t rows = 0, nnz = 0;  ///< of A
  std::int64_t units = 0;          ///< windows, or rows where there are none
  std::int64_t pieces = 0;         ///< that long units are cut into
  double row_bytes = 0;            ///< of a row of a dense operand that is read
  double n = 0;                    ///< columns of the dense operands
  double m = 0, heads = 1;         ///< see RunSizes
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
  Variant variant = {};
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
  bool adds = true;        ///< to alpha times what it computes it adds beta times what stands in the result
  bool standalone = true;  ///< operands may be any numbers, they are not what another operation computed
  bool row_local = true;   ///< a row of results depends on the same row of operands with Extent::rows alone
  Work (*work)(const ProductSizes&);

  /// Computes the results of one head serially with double products and sums, and hands each number to the
  /// sink, in an order that sizes and null operands alone decide. `before` is the result before the run, read
  /// where beta is not 0. O(nnz n).
  void (*reference)(const ReferenceProduct&, const Operands&, const void* before, const ResultSink&);
  /// Products in the longest sum: a correct kernel's error is at most tolerated_sum_error of it.
  std::int64_t (*longest_sum)(const ReferenceProduct&);

  /// Null, or: says what is wrong with the options of a plan.
  Status (*check)(const PlanOptions&) = nullptr;
  /// Null, or: says what is wrong with the operands of a run, which all have their shapes.
  Status (*check_run)(const PlanOptions&, const Operands&) = nullptr;
  /// Chunks on the CPU are columns of operands with Width::n, each with all rows: it sums over them.
  bool by_columns = false;

  [[nodiscard]] const OperandSpec& result() const { return operands.back(); }
};

/// All operations.
std::span<const Operation* const> operations();

/// Finds one by name; nullptr when there is none.
const Operation* find_operation(std::string_view name);

/// Writes what the reference computes, rounded once, into the results among the operands.
void write_reference(const Operation& op, const ReferenceProduct& product, const Operands& operands);

/// Measures how wrong results are: the largest error over what rounding errors are proportional to, see
/// element_error. `before` is the result before the run, read where beta is not 0.
double measure_error(const Operation& op, const ReferenceProduct& product, const Operands& computed,
                     const void* before = nullptr);

/// What a product is of: the matrix, and the run.
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

/// Elements of an operand whose heads and rows follow each other without gaps. Nothing: more than 2^63.
std::optional<std::int64_t> elements_of(const OperandSpec& operand, const OperandSizes& sizes);

/// Elements between the heads of an operand that was given without.
std::int64_t batch_of(const OperandSpec& operand, const Operand& given, const OperandSizes& sizes);

/// The operands of one of the heads.
Operands operands_of_head(const Operation& op, const Operands& all, std::int64_t head,
                          const OperandSizes& sizes, const DenseTypes& types, DType values);

constexpr DType type_of(const OperandSpec& operand, const DenseTypes& types) {
  if (operand.element == Element::statistic) return types.operands == DType::f64 ? DType::f64 : DType::f32;
  return operand.result && operand.element == Element::usual ? types.result : types.operands;
}

}  // namespace sptile::runtime
