// New values for a plan.
#include <cstring>
#include <string>

#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

/// Verifies that new values fit the plan.
Status check_refresh(const ProductPlan& plan, const ArrayView& values) {
  if (Status s = check_process(plan, "refresh"); !s) return s;
  if (!plan.options.refreshable) return fail(Errc::usage, "refresh: the plan was not made with refreshable");
  if (plan.values == DType::none) return fail(Errc::usage, "refresh: a pattern matrix has no values");
  const std::int64_t nnz = plan.matrix.format.nnz;
  if (values.dtype != plan.values || values.size != nnz || (values.data == nullptr && nnz > 0))
    return fail(Errc::usage, "refresh: got " + std::to_string(values.size) + " values of " +
                                 std::string(name_of(values.dtype)) + ", the plan needs " +
                                 std::to_string(nnz) + " of " + std::string(name_of(plan.values)));
  return {};
}

}  // namespace

Status refresh_packed(ProductPlan& plan, ArrayView values, void* stream) {
  if (Status s = check_refresh(plan, values); !s || values.size == 0) return s;
  if (plan.on_device) return cuda::refresh_packed(*plan.on_device, values.data, stream);
  if (stream != nullptr) return fail(Errc::usage, "refresh: a plan for the CPU takes no stream");
  std::memcpy(plan.own_values.data(), values.data, plan.own_values.size());
  return {};
}

Status refresh_values(ProductPlan& plan, ArrayView values) {
  if (Status s = check_refresh(plan, values); !s || values.size == 0) return s;
  if (plan.on_device) return cuda::refresh(*plan.on_device, values);
  const auto* from = static_cast<const std::byte*>(values.data);
  const std::size_t width = size_of(plan.values);
  if (!plan.matrix.value_source.present()) {
    std::memcpy(plan.own_values.data(), from, plan.own_values.size());
    return {};
  }
  std::byte* to = plan.own_values.data();
  for (const std::int64_t position : plan.matrix.value_source.as<std::int64_t>()) {
    std::memcpy(to, from + static_cast<std::size_t>(position) * width, width);
    to += width;
  }
  return {};
}

}  // namespace sptile::runtime
