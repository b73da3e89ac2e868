// Random operands of any operation, by its table; results are filled with numbers that a run must not read.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "runtime/operation/operation.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/reference/element.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

struct OperationProblem {
  const runtime::Operation& op;
  const formats::Csr& a;
  std::int64_t n;
  runtime::DenseTypes types = {};
  runtime::Variant variant = {};
  std::int64_t pad = 0;
  double alpha = 1;
};

/// Operands with leading dimensions and consecutive heads.
class RandomOperands {
 public:
  RandomOperands(const OperationProblem& p, Random& random) : p_(p) {
    const runtime::OperandSizes all = sizes();
    for (std::size_t i = 0; i < p.op.operands.size(); ++i) {
      const runtime::OperandSpec& spec = p.op.operands[i];
      const auto [rows, width] = shape_of(spec, all);
      const std::int64_t ld = width + p.pad, heads = spec.shared ? 1 : p.variant.heads;
      arrays_[i] =
          random_values(std::max<std::int64_t>(1, rows * ld * heads), type_of(spec, p.types), random);
      if (spec.result) std::memset(arrays_[i].data(), 0xFF, bytes(i));
      operands_.dense[i] = {arrays_[i].data(), ld, 0};
    }
    operands_.alpha = p.alpha;
  }

  [[nodiscard]] runtime::OperandSizes sizes() const {
    const runtime::Variant& v = p_.variant;
    return {p_.a.rows, p_.a.cols, p_.a.nnz(), {p_.n, v.m != 0 ? v.m : p_.n, v.heads}, v.transposed_weights};
  }
  [[nodiscard]] const runtime::Operands& operands() const { return operands_; }
  [[nodiscard]] std::size_t bytes(std::size_t i) const {
    return static_cast<std::size_t>(arrays_[i].view().bytes());
  }
  formats::Array& array(int i) { return arrays_[static_cast<std::size_t>(i)]; }
  void leave_out(int i) { operands_.dense[i] = {nullptr, operands_.dense[i].ld, 0}; }
  /// Restores an omitted operand.
  void give(int i) { operands_.dense[i].data = array(i).data(); }

  /// Returns element (r, c) of an operand of one head.
  [[nodiscard]] double at(int i, std::int64_t r, std::int64_t c) const {
    const formats::Array& array = arrays_[static_cast<std::size_t>(i)];
    return runtime::read_element(array.view().dtype, array.data(), r * operands_.dense[i].ld + c);
  }
  void set(int i, std::int64_t r, std::int64_t c, double x) {
    formats::Array& to = array(i);
    runtime::write_element(to.view().dtype, to.data(), r * operands_.dense[i].ld + c, x);
  }

  /// Returns whether the gaps between rows of results and after the last row are unchanged.
  [[nodiscard]] bool gaps_untouched() const {
    for (std::size_t i = 0; i < p_.op.operands.size(); ++i) {
      const runtime::OperandSpec& spec = p_.op.operands[i];
      const auto [rows, width] = shape_of(spec, sizes());
      const std::size_t size = size_of(type_of(spec, p_.types));
      const auto* const data = reinterpret_cast<const unsigned char*>(arrays_[i].data());
      const std::int64_t ld = width + p_.pad;
      for (std::int64_t r = 0; spec.result && r < rows; ++r)
        for (std::size_t b = static_cast<std::size_t>(r * ld + width) * size,
                         end = static_cast<std::size_t>((r + 1) * ld) * size;
             b < end; ++b)
          if (data[b] != 0xFF) return false;
    }
    return true;
  }

  /// Returns the maximum error of the heads.
  [[nodiscard]] double error(DType values) const {
    const runtime::ReferenceProduct product = {p_.a.view(), p_.n, p_.types, p_.variant, {}};
    double worst = 0;
    for (std::int64_t head = 0; head < p_.variant.heads; ++head)
      worst = std::max(
          worst,
          measure_error(p_.op, product, operands_of_head(p_.op, operands_, head, sizes(), p_.types, values)));
    return worst;
  }
  [[nodiscard]] double tolerated() const {
    return runtime::tolerated_sum_error(p_.op.longest_sum({p_.a.view(), p_.n, p_.types, p_.variant, {}}),
                                        p_.types);
  }

 private:
  OperationProblem p_;
  std::array<formats::Array, runtime::kMaxOperands> arrays_;
  runtime::Operands operands_;
};

}  // namespace sptile::test
