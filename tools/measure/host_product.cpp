#include "tools/measure/host_product.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/convert/packed_positions.hpp"
#include "formats/core/csr.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/random_operands.hpp"

namespace sptile::tools {
namespace {

// Returns the position in the format of the number of each entry.
Result<formats::Array> positions_of_entries(const runtime::PlanMatrix& a, bool trusted) {
  if (trusted && a.value_source.present())
    return formats::inverse_positions(a.value_source.as<std::int64_t>());
  return formats::packed_positions(a.format, a.row_order);
}

}  // namespace

void HostProduct::set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) {
  source_ = source;
  dense_ = dense;
  op_ = nullptr;
  references_.clear();
}

bool HostProduct::set_operands(const runtime::Operation& op, std::int64_t n) {
  if (&op == op_ && n == n_) return false;
  op_ = &op;
  n_ = n;
  made_ = false;
  operands_ = {};
  references_.clear();
  return true;
}

runtime::PlanOptions HostProduct::plan_options() const {
  runtime::PlanOptions options = options_.attributes.plan;
  options.n = n_;
  options.dense = dense_.operands;
  options.result = dense_.result;
  return options;
}

runtime::OperandSizes HostProduct::sizes() const {
  const runtime::PlanOptions options = plan_options();
  return {source_.rows, source_.cols, source_.nnz(), runtime::sizes_of(options),
          options.variant.transposed_weights};
}

void HostProduct::make_operands() {
  if (made_) return;
  const runtime::OperandSizes all = sizes();
  for (std::size_t i = 0; i < op_->operands.size(); ++i) {
    const runtime::OperandSpec& spec = op_->operands[i];
    if (is_left_out(spec)) continue;
    const auto [rows, width] = shape_of(spec, all);
    const std::int64_t total = rows * (spec.shared ? 1 : all.run.heads);
    const DType type = type_of(spec, dense_);
    operands_[i] = spec.result ? formats::Array(type, std::max<std::int64_t>(total, 1) * width)
                               : random_dense(total, width, type, options_.seed + i);
  }
  made_ = true;
}

void HostProduct::clear_results() {
  for (std::size_t i = 0; i < op_->operands.size(); ++i)
    if (op_->operands[i].result && !is_left_out(op_->operands[i]))
      std::memset(operands_[i].data(), 0xFF, static_cast<std::size_t>(operands_[i].view().bytes()));
}

runtime::Operands HostProduct::operands() {
  runtime::Operands operands = options_.attributes.run;
  // Exponentials of the scores of random operands stay within the range of 16-bit types.
  if (!op_->standalone) operands.alpha = 1 / std::sqrt(static_cast<double>(n_));
  const runtime::OperandSizes all = sizes();
  for (std::size_t i = 0; i < op_->operands.size(); ++i)
    operands.dense[i] = {is_left_out(op_->operands[i]) ? nullptr : operands_[i].data(),
                         shape_of(op_->operands[i], all).width};
  return operands;
}

// Operands of a head; those with a row for each row of A start at one of them.
runtime::Operands HostProduct::operands_from(std::int64_t head, std::int64_t row, DType values) {
  runtime::Operands one = operands_of_head(*op_, operands(), head, sizes(), dense_, values);
  for (std::size_t i = 0; i < op_->operands.size(); ++i) {
    const runtime::OperandSpec& spec = op_->operands[i];
    if (spec.extent != runtime::Extent::rows || one.dense[i].data == nullptr) continue;
    one.dense[i].data = static_cast<std::byte*>(one.dense[i].data) +
                        static_cast<std::size_t>(row * one.dense[i].ld) * size_of(type_of(spec, dense_));
  }
  return one;
}

Result<double> HostProduct::error(const runtime::PlanMatrix& a, const CheckOptions& check,
                                  Progress* progress) {
  formats::CsrView exact = source_;
  formats::Array rounded, packed;
  const DType values = a.format.value_dtype();
  const bool reads_values = op_->uses_values || options_.attributes.run.scaled;
  if (reads_values && !exact.is_pattern() && exact.values.dtype != values) {
    rounded = formats::convert_values(exact.values, values);
    exact.values = rounded.view();
  }
  if (has_entry_lists(*op_)) {
    auto positions = positions_of_entries(a, check.trusted);
    if (!positions) return tl::unexpected(positions.error());
    packed = std::move(*positions);
  }
  const runtime::ReferenceProduct product = {
      .a = exact,
      .n = n_,
      .types = dense_,
      .variant = options_.attributes.plan.variant,
      .packed = packed.present() ? packed.view().as<std::int64_t>() : std::span<const std::int64_t>()};
  const auto heads = static_cast<std::size_t>(sizes().run.heads);
  if (references_.empty()) references_.assign(heads, ReferenceCache(options_.reference_bytes / heads));
  double worst = 0;
  for (std::size_t head = 0; head < heads; ++head) {
    const auto from = [&](std::int64_t row) {
      return operands_from(static_cast<std::int64_t>(head), row, values);
    };
    const double found = references_[head].error(*op_, product, from, check.rows, progress);
    if (!(found <= worst)) worst = found;  // keeps NaN
    if (std::isnan(worst)) break;
  }
  return worst;
}

double HostProduct::bytes() const {
  double bytes = 0;
  for (const runtime::OperandSpec& spec : op_->operands)
    bytes += static_cast<double>(elements_of(spec, sizes()).value_or(INT64_MAX)) *
             static_cast<double>(size_of(type_of(spec, dense_)));
  return bytes;
}

}  // namespace sptile::tools
