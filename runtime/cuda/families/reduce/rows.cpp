#include "runtime/cuda/built.hpp"
#include "runtime/cuda/families/reduce/reduce.hpp"
#include "runtime/operation/spmm_reduce.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel reduction(std::string_view name, const Operation* op, std::string_view summary,
                           Instances instances) {
  return {.name = name,
          .op = op,
          .format = "csr",
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .instances = instances};
}

constexpr Kernel kReductions[] = {
    reduction(kCsrMax, &kSpmmMax, "maxima in registers, lanes chosen by row length",
              SPTILE_BUILT(max_kernels)),
    reduction(kCsrMin, &kSpmmMin, "minima in registers, lanes chosen by row length",
              SPTILE_BUILT(min_kernels)),
    reduction(kCsrMaxGradient, &kSpmmMaxGradient, "dot products over the columns that an entry gave",
              SPTILE_BUILT(max_gradient_kernels)),
    reduction(kCsrMaxGradientT, &kSpmmMaxGradientT,
              "sums of the columns that an entry gave; rows of G are loaded where arg matches",
              SPTILE_BUILT(max_gradient_t_kernels)),
};

}  // namespace

std::span<const Kernel> reduce_kernel_rows() { return kReductions; }

}  // namespace sptile::runtime::cuda
