// Random problems of any operation with heads: consecutive or interleaved operands, results initialized to
// NaN.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/operation/operation.hpp"
#include "runtime/reference/element.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

/// Memory layout of the operands.
struct HeadLayout {
  std::int64_t heads = 1;
  std::int64_t pad = 0;      ///< elements between rows
  bool interleaved = false;  ///< heads are interleaved in rows
};

class HeadProblem {
 public:
  HeadProblem(const runtime::Operation& op, const formats::Csr& a, runtime::Variant variant, std::int64_t n,
              const runtime::DenseTypes& types, const HeadLayout& layout, Random& random)
      : op_(&op), a_(&a), types_(types) {
    variant.heads = layout.heads;
    variant_ = variant;
    n_ = n;
    for (std::size_t i = 0; i < op.operands.size(); ++i) add_operand(op.operands[i], i, layout, random);
  }

  [[nodiscard]] const runtime::Operation& op() const { return *op_; }
  [[nodiscard]] const formats::Csr& matrix() const { return *a_; }
  [[nodiscard]] runtime::DenseTypes types() const { return types_; }
  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] const runtime::Variant& variant() const { return variant_; }
  [[nodiscard]] runtime::RunSizes run_sizes() const {
    return {n_, variant_.m != 0 ? variant_.m : n_, variant_.heads};
  }
  [[nodiscard]] runtime::OperandSizes sizes() const { return {a_->rows, a_->cols, a_->nnz(), run_sizes()}; }
  [[nodiscard]] formats::Array& array(std::size_t i) { return arrays_[i]; }
  [[nodiscard]] const std::vector<formats::Array>& arrays() const { return arrays_; }
  /// Returns the operands with the addresses of the arrays.
  [[nodiscard]] const runtime::Operands& operands() const { return operands_; }
  [[nodiscard]] runtime::Operands& operands() { return operands_; }
  void leave_out(std::size_t i) { operands_.dense[i] = {}; }
  [[nodiscard]] double number(std::size_t i, std::int64_t at) const {
    return runtime::read_element(type_of(op_->operands[i], types_), arrays_[i].data(), at);
  }
  void set(std::size_t i, std::int64_t at, double x) {
    runtime::write_element(type_of(op_->operands[i], types_), arrays_[i].data(), at, x);
  }
  /// Sets random elements of an operand to x.
  void sprinkle(std::size_t i, double share, double x, Random& random) {
    for (std::int64_t k = 0; k < arrays_[i].size(); ++k)
      if (std::uniform_real_distribution<double>()(random) < share) set(i, k, x);
  }

  void scale(std::size_t i, double factor) {
    for (std::int64_t k = 0; k < arrays_[i].size(); ++k) set(i, k, number(i, k) * factor);
  }

  [[nodiscard]] runtime::ReferenceProduct product(std::span<const std::int64_t> packed = {}) const {
    return {view(), n_, types_, variant_, packed};
  }
  [[nodiscard]] runtime::Operands head(const runtime::Operands& operands, std::int64_t h) const {
    return operands_of_head(*op_, operands, h, sizes(), types_, DType::none);
  }
  /// Returns the maximum error of all heads.
  [[nodiscard]] double error(std::span<const std::int64_t> packed = {}) const {
    double worst = 0;
    for (std::int64_t h = 0; h < variant_.heads; ++h)
      worst = std::max(worst, measure_error(*op_, product(packed), head(operands_, h)));
    return worst;
  }
  [[nodiscard]] double tolerance() const {
    return runtime::tolerated_sum_error(op_->longest_sum(product()), types_);
  }
  void run_reference() {
    for (std::int64_t h = 0; h < variant_.heads; ++h) write_reference(*op_, product(), head(operands_, h));
  }
  /// Returns whether the gaps between elements of results are still NaN.
  [[nodiscard]] bool gaps_are_untouched() const {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (op_->operands[i].result && operands_.dense[i].data != nullptr && !gaps_are_untouched(i))
        return false;
    return true;
  }

 private:
  [[nodiscard]] formats::CsrView view() const { return a_->view(); }

  void add_operand(const runtime::OperandSpec& spec, std::size_t i, const HeadLayout& layout,
                   Random& random) {
    const auto [rows, width] = shape_of(spec, sizes());
    const bool list = spec.extent == runtime::Extent::entries;
    runtime::Operand& o = operands_.dense[i];
    if (list) {
      o.batch = rows + layout.pad;
    } else if (layout.interleaved) {
      o.batch = width + layout.pad;
      o.ld = layout.heads * o.batch;
    } else {
      o.ld = width + layout.pad;
      o.batch = rows * o.ld;
    }
    const std::int64_t size = std::max<std::int64_t>(rows * (list ? 1 : o.ld) + layout.heads * o.batch, 1);
    arrays_.push_back(random_values(size, type_of(spec, types_), random));
    if (spec.result)
      std::memset(arrays_.back().data(), 0xFF, static_cast<std::size_t>(arrays_.back().view().bytes()));
    o.data = arrays_.back().data();
  }

  [[nodiscard]] bool gaps_are_untouched(std::size_t i) const {
    const auto [rows, width] = shape_of(op_->operands[i], sizes());
    const runtime::Operand& o = operands_.dense[i];
    const bool list = op_->operands[i].extent == runtime::Extent::entries;
    std::vector<bool> ours(static_cast<std::size_t>(arrays_[i].size()));
    for (std::int64_t h = 0; h < variant_.heads; ++h)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < width; ++c)
          ours[static_cast<std::size_t>(h * o.batch + r * (list ? 1 : o.ld) + c)] = true;
    const std::size_t size = size_of(type_of(op_->operands[i], types_));
    const auto* const bytes = static_cast<const unsigned char*>(arrays_[i].data());
    for (std::size_t k = 0; k < ours.size(); ++k)
      if (!ours[k] &&
          !std::all_of(bytes + k * size, bytes + (k + 1) * size, [](unsigned char b) { return b == 0xFF; }))
        return false;
    return true;
  }

  const runtime::Operation* op_;
  const formats::Csr* a_;
  runtime::DenseTypes types_;
  runtime::Variant variant_;
  std::int64_t n_ = 0;
  std::vector<formats::Array> arrays_;
  runtime::Operands operands_;
};

/// Returns a matrix with empty and short rows and one of thousands of entries.
inline formats::Csr skewed_matrix(std::int64_t rows, std::int64_t cols, Random& random) {
  return random_matrix(rows, cols, DType::none, random, [=](std::int64_t r, std::int64_t) {
    return r % 5 == 2 ? 0.0 : r == rows / 2 ? 0.95 : 6.0 / static_cast<double>(cols);
  });
}

}  // namespace sptile::test
