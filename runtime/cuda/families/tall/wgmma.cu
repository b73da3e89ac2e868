#include <iterator>
#include <string>
#include <tuple>

#include "runtime/cuda/families/tall/launch.cuh"
#include "runtime/cuda/families/tall/tall.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Checks the columns: a block multiplies slices of 512 bytes even if rows of B are narrower.
Status check_wide(const ServiceRequest& request) {
  constexpr std::int64_t kMin = kTallPolicy.min_dense_columns;
  if (request.n >= kMin) return {};
  return fail(Errc::unsupported, std::string(kTallWgmma) + " requires at least " + std::to_string(kMin) +
                                     " columns, got " + std::to_string(request.n) + "; use " +
                                     std::string(kTallStaged));
}

// Windows of up to 64 rows, and of up to 128.
template <class V>
using Dense32 =
    TallInstance<4, 4, TallDenseKernel<V, MathF32<false>, 8>, TallDenseKernel<V, MathF32<false>, 16>>;

template <class Instance>
constexpr DeviceKernel wgmma_row(DType values) {
  return {.kernel = kTallWgmma,
          .values = values,
          .dense = DType::f32,
          .precision = Precision::tf32,
          .capability = 90,
          .ieee = false,
          .schedule = Instance::schedule,
          .launch = Instance::launch,
          .least_n = Instance::least_n,
          .store = &Instance::kStore,
          .check = check_wide,
          .last_capability = 90,
          .policy = Instance::policy};
}

constexpr DeviceKernel kWgmmaRows[] = {wgmma_row<Dense32<float>>(DType::f32),
                                       wgmma_row<Dense32<Ones>>(DType::none)};

}  // namespace

std::span<const DeviceKernel> tall_wgmma_kernels() { return {kWgmmaRows, std::size(kWgmmaRows)}; }

}  // namespace sptile::runtime::cuda
