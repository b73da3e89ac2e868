#include "runtime/operation/error_bound.hpp"

#include <cmath>

#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/edge_attention.hpp"
#include "runtime/operation/gatv2.hpp"
#include "runtime/operation/gatv2_edges.hpp"
#include "runtime/operation/layer_gradient.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/reference/element.hpp"

namespace sptile::runtime {
namespace {

/// Operations that multiply results of products, and the length of the chain.
struct Chain {
  const Operation* op;
  int products;
};
constexpr Chain kChains[] = {{&kSpmmUpdate, 2},
                             {&kLayerGradient, 2},
                             {&kAttention, 2},
                             {&kAttentionGradient, 3},
                             {&kAttentionGradientT, 3},
                             {&kGatv2, 2},
                             {&kGatv2Gradient, 3},
                             {&kGatv2GradientT, 3},
                             {&kEdgeAttention, 2},
                             {&kEdgeAttentionGradient, 3},
                             {&kGatv2WithFeatures, 3},
                             {&kGatv2WithFeaturesGradient, 4},
                             {&kGatv2WithFeaturesGradientT, 4},
                             {&kGatv2WithFeaturesWeights, 2}};

/// Returns the unit roundoff: half the distance from 1 to the next number.
double roundoff(Precision precision) {
  switch (precision) {
    case Precision::tf32:
    case Precision::fp16:
      return 0x1p-11;
    case Precision::bf16:
      return 0x1p-8;
    default:
      return 0;
  }
}

/// Returns the relative error of a product with `factors` rounded factors.
double rounded_factors(Precision precision, int factors) {
  return std::pow(1 + roundoff(precision), factors) - 1;
}

}  // namespace

int products_of(const Operation& op) {
  for (const Chain& chain : kChains)
    if (chain.op == &op) return chain.products;
  return 1;
}

double factor_error(const Operation& op, Precision precision, const DenseTypes& types) {
  if (types.operands == DType::f64) return 0;
  const int products = products_of(op);
  const double cut = types.result == DType::f32 ? 0x1p-20 : 0;
  if (types.operands == DType::f16) return rounded_factors(Precision::fp16, 2 * products - 2) + cut;
  if (types.operands == DType::bf16) return rounded_factors(Precision::bf16, 2 * products - 2) + cut;
  if (precision == Precision::fp32) return products * 0x1p-21 + cut;
  return rounded_factors(precision, 2 * products) + cut;
}

double tolerated_error(const Operation& op, const ReferenceProduct& product, Precision precision) {
  return tolerated_sum_error(op.longest_sum(product), product.types) +
         factor_error(op, precision, product.types);
}

}  // namespace sptile::runtime
