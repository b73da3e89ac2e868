// Plans of the C interface for matrices in device memory.
#include "runtime/capi_error.hpp"
#include "runtime/capi_handles.hpp"
#include "runtime/capi_options.hpp"
#include "runtime/device_csr_plan.hpp"

namespace sptile::runtime {
namespace {

constexpr const char* kCall = "sptile_plan_from_device_csr";

Status plan_from_device_csr(cuda::DeviceCsr csr, sptile_dtype dtype, const char* format,
                            const sptile_spmm_options* from, sptile_plan** out) {
  if (out == nullptr) return null_argument(kCall, "plan");
  *out = nullptr;
  if (format == nullptr) return null_argument(kCall, "format");
  const Result<PlanOptions> options = convert_options(from);
  if (!options) return tl::unexpected(options.error());
  if (dtype != SPTILE_NONE) {
    const Result<DType> type = value_type(dtype, "value_dtype");
    if (!type) return tl::unexpected(type.error());
    csr.value_dtype = *type;
  } else if (csr.values != nullptr) {
    return fail(Errc::usage, "values are given but value_dtype is SPTILE_NONE");
  }
  csr.ordinal = options->device_ordinal;
  auto plan = plan_from_device("spmm", csr, format, *options);
  if (!plan) return tl::unexpected(plan.error());
  *out = new sptile_plan{std::move(*plan)};
  return {};
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;

sptile_status sptile_plan_from_device_csr(int64_t rows, int64_t cols, int64_t nnz, const int64_t* row_ptr,
                                          const int32_t* col_idx, const void* values,
                                          sptile_dtype value_dtype, const char* format,
                                          const sptile_spmm_options* options, sptile_plan** plan) {
  return guarded([&] {
    cuda::DeviceCsr csr;
    csr.rows = rows;
    csr.cols = cols;
    csr.nnz = nnz;
    csr.row_ptr = row_ptr;
    csr.col_idx = col_idx;
    csr.values = values;
    return plan_from_device_csr(csr, value_dtype, format, options, plan);
  });
}
