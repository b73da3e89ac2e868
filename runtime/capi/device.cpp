// Plans of the C interface for matrices in device memory.
#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/capi/handles.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/plan/from_device.hpp"

namespace sptile::runtime {
namespace {

Status plan_from_device_csr(const PlanCall& call, cuda::DeviceCsr csr, sptile_dtype dtype, const char* format,
                            const sptile_plan_options* from, sptile_plan** out) {
  if (out == nullptr) return null_argument(call.name, "plan");
  *out = nullptr;
  if (format == nullptr) return null_argument(call.name, "format");
  const Result<PlanOptions> options = convert_options(from);
  if (!options) return tl::unexpected(options.error());
  const Result<DType> type = matrix_value_type(call.name, csr.values, dtype, csr.nnz);
  if (!type) return tl::unexpected(type.error());
  csr.value_dtype = *type;
  csr.ordinal = options->device_ordinal;
  return give_plan(plan_from_device(call.op, csr, format, *options), out);
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;

sptile_status sptile_plan_from_device_csr(int64_t rows, int64_t cols, int64_t nnz, const int64_t* row_ptr,
                                          const int32_t* col_idx, const void* values,
                                          sptile_dtype value_dtype, const char* format,
                                          const sptile_spmm_options* options, sptile_plan** plan) {
  return guarded([&] {
    return plan_from_device_csr({"sptile_plan_from_device_csr", kSpmm},
                                {rows, cols, nnz, row_ptr, col_idx, values}, value_dtype, format, options,
                                plan);
  });
}

sptile_status sptile_plan_sddmm_from_device_csr(int64_t rows, int64_t cols, int64_t nnz,
                                                const int64_t* row_ptr, const int32_t* col_idx,
                                                const void* values, sptile_dtype value_dtype,
                                                const char* format, const sptile_plan_options* options,
                                                sptile_plan** plan) {
  return guarded([&] {
    return plan_from_device_csr({"sptile_plan_sddmm_from_device_csr", kSddmm},
                                {rows, cols, nnz, row_ptr, col_idx, values}, value_dtype, format, options,
                                plan);
  });
}
