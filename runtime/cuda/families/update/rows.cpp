#include <array>
#include <iterator>
#include <utility>

#include "runtime/cuda/built.hpp"
#include "runtime/cuda/collective/csr_rows.hpp"
#include "runtime/cuda/families/update/update.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Operands of the first step, Z = A B.
constexpr int kOperandsOfFirst[] = {kUpdateB, kUpdateZ};

/// Returns the microseconds to read Z and write C at memory bandwidth, including the launch; data that fits
/// into L2 is slightly faster.
double dense_microseconds(const ProductSizes& s) {
  constexpr double kLaunch = 2.5, kMemory = 3.5e6, kCache = 5e6, kCached = 40e6;
  const double bytes = s.heads * static_cast<double>(s.rows) * (s.row_bytes / s.heads + s.m * s.result_bytes);
  return kLaunch + bytes / (bytes < kCached ? kCache : kMemory);
}

constexpr FirstStep kFirst = {&kSpmm, kOperandsOfFirst, dense_microseconds};

constexpr Kernel base(std::string_view name, const Operation* op, std::string_view format,
                      std::string_view summary, Instances instances) {
  return {.name = name,
          .op = op,
          .format = format,
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .instances = instances};
}

constexpr Kernel fused() {
  Kernel row = base(kFusedUpdate, &kSpmmUpdate, "csr",
                    "fused: 16-row windows summed on CUDA cores, weights in shared memory on tensor cores",
                    SPTILE_BUILT(fused_update_kernels));
  row.like = kCsrRows;
  return row;
}

template <int kIndex>
constexpr Kernel after() {
  Kernel row = base(kUpdateAfter[kIndex].kernel, &kSpmmUpdate, kUpdateAfter[kIndex].format,
                    "SpMM of the format, then the weights on tensor cores",
                    SPTILE_BUILT(dense_update_kernels<kIndex>));
  row.first = &kFirst;
  return row;
}

/// The fused kernel is last, because it is the best for csr.
template <int... kIndex>
constexpr auto all_rows(std::integer_sequence<int, kIndex...>) {
  return std::array{
      after<kIndex>()..., fused(),
      base(kUpdateGradientRows, &kUpdateGradient, "csr",
           "tiles of rows on tensor cores, ordered partial sums", SPTILE_BUILT(update_gradient_kernels))};
}

constexpr auto kRows = all_rows(std::make_integer_sequence<int, static_cast<int>(std::size(kUpdateAfter))>());

}  // namespace

std::span<const Kernel> update_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
