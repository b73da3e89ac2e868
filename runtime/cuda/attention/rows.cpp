#include "runtime/cuda/attention/attention.hpp"
#include "runtime/cuda/built.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, const Operation& op, std::string_view summary,
                     Instances instances, std::string_view format = "csr") {
  return {.name = name,
          .op = &op,
          .format = format,
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .instances = instances};
}

constexpr Kernel kRows[] = {
    row(kCsrSoftmax, kSoftmaxRows, "8 or 32 lanes a row, of long ones a block",
        SPTILE_BUILT(softmax_kernels)),
    row(kCsrSoftmaxGradient, kSoftmaxRowsGradient, "8 or 32 lanes a row, of long ones a block",
        SPTILE_BUILT(softmax_gradient_kernels)),
    row(kCsrAttention, kAttention, "scores, softmax and rows of V in one pass, balanced runs of rows",
        SPTILE_BUILT(attention_kernels)),
    row(kCsrAttentionGradient, kAttentionGradient, "weights made again, rows of Y and V fetched once",
        SPTILE_BUILT(attention_gradient_kernels)),
    row(kCsrAttentionGradientT, kAttentionGradientT, "weights made again, rows of X and dout fetched once",
        SPTILE_BUILT(attention_gradient_t_kernels)),
    row(kBmatAttention, kAttention, "the same on tensor cores, a warp for a window of 16 rows",
        SPTILE_BUILT(bmat_attention_kernels), "bmat"),
};

}  // namespace

std::span<const Kernel> attention_kernel_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
