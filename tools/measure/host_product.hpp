// Operands of a product in host memory, and the comparison of its results with the reference.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "runtime/core/matrix.hpp"
#include "tools/measure/attribute_options.hpp"
#include "tools/measure/reference_cache.hpp"

namespace sptile::tools {

/// Options of a HostProduct.
struct HostProductOptions {
  ProductAttributes attributes = {};
  std::uint64_t seed = 1;
  std::size_t reference_bytes = 0;  ///< memory for references that several measurements share
};

/// Rows to compare, and whether matrices need no check.
struct CheckOptions {
  CheckedRows rows = CheckedRows::all;
  bool trusted = false;
};

class HostProduct {
 public:
  explicit HostProduct(const HostProductOptions& options) : options_(options) {}

  /// Sets the matrix in its original row order, which is borrowed.
  void set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense);

  /// Sets the operation and the number of columns. Returns false if both are set already.
  bool set_operands(const runtime::Operation& op, std::int64_t n);

  /// Allocates the operands, with random numbers in (-1, 1) in those that are read, unless it did so before.
  void make_operands();

  /// Fills results with NaN, so that elements that are not written show.
  void clear_results();

  [[nodiscard]] const runtime::Operation& op() const { return *op_; }
  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] const formats::CsrView& source() const { return source_; }
  [[nodiscard]] const runtime::DenseTypes& types() const { return dense_; }
  [[nodiscard]] runtime::OperandSizes sizes() const;
  [[nodiscard]] formats::Array& array(std::size_t operand) { return operands_[operand]; }

  /// Returns the operands of all heads, one head after another.
  [[nodiscard]] runtime::Operands operands();

  /// Returns options of plans with the attributes, types and columns of the product.
  [[nodiscard]] runtime::PlanOptions plan_options() const;

  /// Returns the largest error of the results of a run with a format of the matrix, see Operation::reference.
  Result<double> error(const runtime::PlanMatrix& a, const CheckOptions& check, Progress* progress);

  /// Returns the bytes of all operands.
  [[nodiscard]] double bytes() const;

 private:
  [[nodiscard]] runtime::Operands operands_from(std::int64_t head, std::int64_t row, DType values);

  HostProductOptions options_;
  formats::CsrView source_;
  runtime::DenseTypes dense_;
  const runtime::Operation* op_ = nullptr;
  std::int64_t n_ = 0;
  bool made_ = false;
  std::array<formats::Array, runtime::kMaxOperands> operands_;
  std::vector<ReferenceCache> references_;  // per head, of the matrix and the operands
};

}  // namespace sptile::tools
