#include "tools/measure/product_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/cuda/backend.hpp"
#include "tools/measure/operations.hpp"

namespace sptile::tools {

bool ProductBench::supports(const runtime::Multiplicand& a, std::string_view kernel) const {
  runtime::PlanOptions options;
  options.n = 1;
  options.dense = a.values;
  options.device = kind();
  options.kernel = kernel;
  runtime::cuda::DeviceInfo device;
  if (options.device == runtime::Device::cuda) {
    auto found = runtime::cuda::find_device(options.device_ordinal);
    if (!found) return false;
    device = std::move(*found);
  }
  return runtime::choose_kernel(a, options, device).has_value();
}

Result<Measurement> ProductBench::measure_yardstick(std::string_view kernel) {
  return fail(Errc::unsupported, fmt::format("no {} here", kernel));
}

Status check_operands_fit(const runtime::Operation& op, const formats::CsrView& a, std::int64_t n) {
  std::int64_t bytes = 0;
  if (!__builtin_mul_overflow(n, 8, &bytes) &&
      !__builtin_mul_overflow(std::max(a.rows, a.cols), bytes, &bytes))
    return {};
  return fail(Errc::usage, fmt::format("-n {} makes {} larger than the address space", n, matrix_names(op)));
}

}  // namespace sptile::tools
