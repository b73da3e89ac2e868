#include "runtime/cuda/built.hpp"
#include "runtime/cuda/families/attention/attention.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/edge_attention.hpp"
#include "runtime/operation/gatv2.hpp"
#include "runtime/operation/gatv2_edges.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, const Operation& op, std::string_view summary,
                     Instances instances, std::string_view format = "csr", int stores = 1) {
  return {.name = name,
          .op = &op,
          .format = format,
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .stores = stores,
          .instances = instances};
}

constexpr Kernel kRows[] = {
    row(kCsrSoftmax, kSoftmaxRows, "8 or 32 lanes per row, one block per long row",
        SPTILE_BUILT(softmax_kernels)),
    row(kCsrSoftmaxGradient, kSoftmaxRowsGradient, "8 or 32 lanes per row, one block per long row",
        SPTILE_BUILT(softmax_gradient_kernels)),
    row(kCsrAttention, kAttention, "fused scores, softmax and sums of V, load-balanced rows",
        SPTILE_BUILT(attention_kernels)),
    row(kCsrAttentionGradient, kAttentionGradient, "recomputed weights, one load of each row of Y and V",
        SPTILE_BUILT(attention_gradient_kernels)),
    row(kCsrAttentionGradientT, kAttentionGradientT, "recomputed weights, one load of each row of X and dout",
        SPTILE_BUILT(attention_gradient_t_kernels)),
    row(kCsrGatv2, kGatv2, "fused scores, softmax and sums of Y, one load of each row of Y",
        SPTILE_BUILT(gatv2_kernels)),
    row(kCsrGatv2Gradient, kGatv2Gradient, "recomputed weights, one load of each row of Y and of edges",
        SPTILE_BUILT(gatv2_gradient_kernels)),
    row(kCsrGatv2GradientT, kGatv2GradientT, "recomputed weights, one load of each row of X and dout",
        SPTILE_BUILT(gatv2_gradient_t_kernels)),
    row(kCsrEdgeAttention, kEdgeAttention,
        "fused scores, softmax and sums, one load of each row of Y, V and edges",
        SPTILE_BUILT(edge_attention_kernels)),
    row(kCsrEdgeAttentionGradient, kEdgeAttentionGradient,
        "recomputed weights, one load of each row of Y, V and edges",
        SPTILE_BUILT(edge_attention_gradient_kernels)),
    row(kCsrGatv2Features, kGatv2WithFeatures, "as gatv2, with products of features in registers",
        SPTILE_BUILT(gatv2_features_kernels)),
    row(kCsrGatv2FeaturesGradient, kGatv2WithFeaturesGradient,
        "as gatv2_gradient, with products of features in registers",
        SPTILE_BUILT(gatv2_features_gradient_kernels)),
    row(kCsrGatv2FeaturesGradientT, kGatv2WithFeaturesGradientT,
        "as gatv2_gradient_t, with products of features in registers",
        SPTILE_BUILT(gatv2_features_gradient_t_kernels)),
    row(kCsrGatv2FeaturesWeights, kGatv2WithFeaturesWeights,
        "sums of a group of lanes over its items in registers, added in order",
        SPTILE_BUILT(gatv2_features_weights_kernels)),
    row(kBmatAttention, kAttention, "fused attention on tensor cores, one warp per window of 16 rows",
        SPTILE_BUILT(bmat_attention_kernels), "bmat", 2),  // weights are rounded as well
};

}  // namespace

std::span<const Kernel> attention_kernel_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
