#include "runtime/operation/operation.hpp"

#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/edge_attention.hpp"
#include "runtime/operation/gatv2.hpp"
#include "runtime/operation/gatv2_edges.hpp"
#include "runtime/operation/layer_gradient.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/operation/spmm_reduce.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"
#include "runtime/reference/compare.hpp"

namespace sptile::runtime {
namespace {
constexpr const Operation* kOperations[] = {
    &kSpmm,
    &kSddmm,
    &kSpmmUpdate,
    &kUpdateGradient,
    &kSpmmMax,
    &kSpmmMin,
    &kSpmmMaxGradient,
    &kSpmmMaxGradientT,
    &kLayerGradient,
    &kSoftmaxRows,
    &kSoftmaxRowsGradient,
    &kAttention,
    &kAttentionGradient,
    &kAttentionGradientT,
    &kGatv2,
    &kGatv2Gradient,
    &kGatv2GradientT,
    &kEdgeAttention,
    &kEdgeAttentionGradient,
    &kGatv2WithFeatures,
    &kGatv2WithFeaturesGradient,
    &kGatv2WithFeaturesGradientT,
    &kGatv2WithFeaturesWeights,
};
}

std::span<const Operation* const> operations() { return kOperations; }

const Operation* find_operation(std::string_view name) {
  for (const Operation* operation : kOperations)
    if (operation->name == name) return operation;
  return nullptr;
}

void write_reference(const Operation& op, const ReferenceProduct& product, const Operands& operands) {
  op.reference(product, operands, operands.dense[op.operands.size() - 1].data, write_number);
}

double measure_error(const Operation& op, const ReferenceProduct& product, const Operands& computed,
                     const void* before) {
  WorstError worst;
  op.reference(product, computed, before, worst.sink());
  return worst.worst();
}

namespace {

std::int64_t rows_of(Extent extent, const OperandSizes& sizes) {
  switch (extent) {
    case Extent::rows:
      return sizes.rows;
    case Extent::cols:
      return sizes.cols;
    case Extent::entries:
    case Extent::features:
      return sizes.nnz;
    case Extent::inner:
      return sizes.run.n;
    case Extent::one:
      return 1;
  }
  __builtin_unreachable();
}

std::int64_t columns_of(Width width, const RunSizes& run) {
  switch (width) {
    case Width::n:
      return run.n;
    case Width::m:
      return run.m;
    case Width::one:
      return 1;
    case Width::two:
      return 2;
  }
  __builtin_unreachable();
}

}  // namespace

OperandShape shape_of(const OperandSpec& operand, const OperandSizes& sizes) {
  if (operand.extent == Extent::entries) return {sizes.nnz, 1};
  const OperandShape shape = {rows_of(operand.extent, sizes), columns_of(operand.width, sizes.run)};
  const bool turned = operand.extent == Extent::inner && !operand.result && sizes.transposed_weights;
  return turned ? OperandShape{shape.width, shape.rows} : shape;
}

std::optional<std::int64_t> elements_of(const OperandSpec& operand, const OperandSizes& sizes) {
  const OperandShape shape = shape_of(operand, sizes);
  std::int64_t count = 0;
  if (__builtin_mul_overflow(shape.rows, shape.width, &count) ||
      __builtin_mul_overflow(count, operand.shared ? 1 : sizes.run.heads, &count))
    return std::nullopt;
  return count;
}

std::int64_t batch_of(const OperandSpec& operand, const Operand& given, const OperandSizes& sizes) {
  if (operand.shared || given.batch != 0) return given.batch;
  return operand.extent == Extent::entries ? sizes.nnz : shape_of(operand, sizes).rows * given.ld;
}

Operands operands_of_head(const Operation& op, const Operands& all, std::int64_t head,
                          const OperandSizes& sizes, const DenseTypes& types, DType values) {
  Operands one = all;
  const auto moved = [head](const void* data, std::int64_t batch, DType type) -> void* {
    if (data == nullptr) return nullptr;
    return const_cast<std::byte*>(static_cast<const std::byte*>(data)) +
           head * batch * static_cast<std::int64_t>(size_of(type));
  };
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    one.dense[i].data = moved(all.dense[i].data, batch_of(op.operands[i], all.dense[i], sizes),
                              type_of(op.operands[i], types));
  if (all.values != nullptr) one.values = moved(all.values, all.values_batch, values);
  return one;
}

}  // namespace sptile::runtime
