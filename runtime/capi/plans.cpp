// Plans and runs of the C interface.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/capi/handles.hpp"
#include "runtime/plan/choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/sddmm.hpp"
#include "runtime/plan/spmm.hpp"

namespace sptile::runtime {
namespace {

/// The formats that the caller names; null: all.
Result<std::vector<PlanMatrix>> named_matrices(const sptile_bundle* handle, const char* formats) {
  return matrices_of(handle->bundle, formats == nullptr ? std::string_view() : std::string_view(formats));
}

Status plan_bundle(const PlanCall& call, const sptile_bundle* handle, const char* format,
                   const sptile_plan_options* from, sptile_plan** out) {
  if (out == nullptr) return null_argument(call.name, "plan");
  *out = nullptr;
  if (handle == nullptr) return null_argument(call.name, "bundle");
  const Result<PlanOptions> options = convert_options(from);
  if (!options) return tl::unexpected(options.error());
  const Result<std::vector<PlanMatrix>> matrices = named_matrices(handle, format);
  if (!matrices) return tl::unexpected(matrices.error());
  if (matrices->size() == 1 && options->choice == Choice::predicted)
    return give_plan(plan_product(call.op, matrices->front(), *options), out);
  return give_plan(plan_product(call.op, std::span<const PlanMatrix>(*matrices), *options), out);
}

sptile_prediction prediction_of(const Candidate& candidate) {
  sptile_prediction p = {};
  p.format = candidate.format.data();  // literals of the tables of formats and kernels
  p.kernel = candidate.kernel == nullptr ? nullptr : candidate.kernel->name.data();
  p.microseconds = candidate.predicted_us.value_or(-1);
  p.precision = candidate.refused.empty() ? code_of(candidate.precision) : SPTILE_PRECISION_DEFAULT;
  p.usable = candidate.refused.empty() ? 1 : 0;
  p.chosen = candidate.chosen ? 1 : 0;
  return p;
}

Status predict_bundle(const sptile_bundle* handle, const char* formats, const sptile_spmm_options* from,
                      void* out, std::size_t element_size, int capacity, int* count) {
  constexpr const char* kCall = "sptile_predict_spmm";
  if (count == nullptr) return null_argument(kCall, "count");
  *count = 0;
  if (handle == nullptr) return null_argument(kCall, "bundle");
  if (out == nullptr && capacity > 0) return null_argument(kCall, "predictions");
  if (element_size < sizeof(sptile_prediction) || capacity < 0)
    return fail(Errc::usage, std::string(kCall) + ": element_size = " + std::to_string(element_size) +
                                 ", capacity = " + std::to_string(capacity) +
                                 "; pass sizeof(sptile_prediction) and the elements of the array");
  const Result<PlanOptions> options = convert_options(from);
  if (!options) return tl::unexpected(options.error());
  const Result<std::vector<PlanMatrix>> matrices = named_matrices(handle, formats);
  if (!matrices) return tl::unexpected(matrices.error());
  const auto list = predict_product(kSpmm, *matrices, *options);
  if (!list) return tl::unexpected(list.error());
  *count = static_cast<int>(list->size());
  for (std::size_t i = 0; i < std::min(list->size(), static_cast<std::size_t>(capacity)); ++i) {
    const sptile_prediction p = prediction_of((*list)[i]);
    std::byte* const element = static_cast<std::byte*>(out) + i * element_size;
    std::memset(element, 0, element_size);  // fields of a newer caller
    std::memcpy(element, &p, sizeof p);
  }
  return {};
}

/// Borrows the caller's arrays; how long they are follows from rows and row_ptr alone.
Result<PlanMatrix> borrow_csr(const char* call, std::int64_t rows, std::int64_t cols,
                              const std::int64_t* row_ptr, const std::int32_t* col_idx, const void* values,
                              sptile_dtype dtype) {
  constexpr std::int64_t kMaxId = 0x7fffffff;
  if (rows < 0 || cols < 0)
    return fail(Errc::usage, "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                                 "; sizes are not negative");
  if (rows > kMaxId || cols > kMaxId)
    return fail(Errc::unsupported, "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                                       "; row and column ids are 32-bit");
  if (row_ptr == nullptr) return null_argument(call, "row_ptr");
  const std::int64_t nnz = row_ptr[rows];
  if (nnz < 0 || nnz > std::int64_t{1} << 60)
    return fail(Errc::bad_input, "row_ptr[rows] = " + std::to_string(nnz) + " is no number of entries");
  if (col_idx == nullptr && nnz > 0) return null_argument(call, "col_idx");
  const Result<DType> type = matrix_value_type(call, values, dtype, nnz);
  if (!type) return tl::unexpected(type.error());
  const formats::CsrView csr{rows,
                             cols,
                             {row_ptr, static_cast<std::size_t>(rows) + 1},
                             {col_idx, static_cast<std::size_t>(nnz)},
                             *type == DType::none ? ArrayView() : ArrayView(*type, values, nnz)};
  return PlanMatrix{formats::as_format(csr), {}, {}, nullptr};
}

Status plan_csr(const PlanCall& call, std::int64_t rows, std::int64_t cols, const std::int64_t* row_ptr,
                const std::int32_t* col_idx, const void* values, sptile_dtype value_dtype,
                const sptile_plan_options* from, sptile_plan** out) {
  if (out == nullptr) return null_argument(call.name, "plan");
  *out = nullptr;
  const Result<PlanOptions> options = convert_options(from);
  if (!options) return tl::unexpected(options.error());
  const Result<PlanMatrix> matrix = borrow_csr(call.name, rows, cols, row_ptr, col_idx, values, value_dtype);
  if (!matrix) return tl::unexpected(matrix.error());
  return give_plan(plan_product(call.op, *matrix, *options), out);
}

/// Passes a field out where the caller wants it.
template <class T>
void give(T* out, T value) {
  if (out != nullptr) *out = value;
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;
using sptile::Status;

int sptile_abi_version(void) { return 1; }

const char* sptile_version(void) { return SPTILE_VERSION; }

sptile_status sptile_plan_spmm(const sptile_bundle* bundle, const char* format,
                               const sptile_spmm_options* options, sptile_plan** plan) {
  return guarded([&] { return plan_bundle({"sptile_plan_spmm", kSpmm}, bundle, format, options, plan); });
}

sptile_status sptile_predict_spmm(const sptile_bundle* bundle, const char* formats,
                                  const sptile_spmm_options* options, sptile_prediction* predictions,
                                  size_t element_size, int capacity, int* count) {
  return guarded(
      [&] { return predict_bundle(bundle, formats, options, predictions, element_size, capacity, count); });
}

sptile_status sptile_plan_spmm_csr(int64_t rows, int64_t cols, const int64_t* row_ptr, const int32_t* col_idx,
                                   const void* values, sptile_dtype value_dtype,
                                   const sptile_spmm_options* options, sptile_plan** plan) {
  return guarded([&] {
    return plan_csr({"sptile_plan_spmm_csr", kSpmm}, rows, cols, row_ptr, col_idx, values, value_dtype,
                    options, plan);
  });
}

void sptile_plan_destroy(sptile_plan* plan) { delete plan; }

sptile_status sptile_plan_shape(const sptile_plan* plan, int64_t* rows, int64_t* cols, int64_t* n) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_shape", "plan");
    give(rows, plan->plan->matrix.format.rows);
    give(cols, plan->plan->matrix.format.cols);
    give(n, plan->plan->options.n);
    return {};
  });
}

sptile_status sptile_plan_dense(const sptile_plan* plan, sptile_dtype* dense) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_dense", "plan");
    if (dense == nullptr) return null_argument("sptile_plan_dense", "dense");
    *dense = static_cast<sptile_dtype>(plan->plan->options.dense);
    return {};
  });
}

sptile_status sptile_plan_kernel(const sptile_plan* plan, const char** name) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_kernel", "plan");
    if (name == nullptr) return null_argument("sptile_plan_kernel", "name");
    *name = kernel_name(*plan->plan).data();  // a literal of the kernel table
    return {};
  });
}

sptile_status sptile_plan_format(const sptile_plan* plan, const char** name) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_format", "plan");
    if (name == nullptr) return null_argument("sptile_plan_format", "name");
    *name = plan->plan->matrix.format.layout->name.data();  // a literal of the format table
    return {};
  });
}

sptile_status sptile_plan_precision(const sptile_plan* plan, sptile_precision* precision) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_precision", "plan");
    if (precision == nullptr) return null_argument("sptile_plan_precision", "precision");
    *precision = code_of(precision_of(*plan->plan));
    return {};
  });
}

sptile_status sptile_plan_workspace(const sptile_plan* plan, size_t* bytes) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_workspace", "plan");
    if (bytes == nullptr) return null_argument("sptile_plan_workspace", "bytes");
    *bytes = workspace_bytes(*plan->plan);
    return {};
  });
}

sptile_status sptile_plan_refresh(sptile_plan* plan, const void* values, sptile_dtype value_dtype,
                                  int64_t count) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_refresh", "plan");
    if (values == nullptr && count > 0) return null_argument("sptile_plan_refresh", "values");
    const sptile::Result<sptile::DType> type = value_type(value_dtype, "value_dtype");
    if (!type) return tl::unexpected(type.error());
    return refresh_values(*plan->plan, {*type, values, count});
  });
}

sptile_status sptile_spmm(const sptile_plan* plan, double alpha, const void* b, int64_t ldb, double beta,
                          void* c, int64_t ldc) {
  return sptile_spmm_workspace(plan, alpha, b, ldb, beta, c, ldc, nullptr, nullptr);
}

sptile_status sptile_spmm_stream(const sptile_plan* plan, double alpha, const void* b, int64_t ldb,
                                 double beta, void* c, int64_t ldc, void* stream) {
  return sptile_spmm_workspace(plan, alpha, b, ldb, beta, c, ldc, nullptr, stream);
}

sptile_status sptile_spmm_workspace(const sptile_plan* plan, double alpha, const void* b, int64_t ldb,
                                    double beta, void* c, int64_t ldc, void* workspace, void* stream) {
  return sptile_spmm_sized_workspace(plan, alpha, b, ldb, beta, c, ldc, workspace, SIZE_MAX, stream);
}

sptile_status sptile_spmm_sized_workspace(const sptile_plan* plan, double alpha, const void* b, int64_t ldb,
                                          double beta, void* c, int64_t ldc, void* workspace,
                                          size_t workspace_size, void* stream) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_spmm", "plan");
    return run(*plan->plan, SpmmOperands{b, ldb, c, ldc, alpha, beta, workspace, workspace_size}, stream);
  });
}

sptile_status sptile_plan_sddmm(const sptile_bundle* bundle, const char* format,
                                const sptile_plan_options* options, sptile_plan** plan) {
  return guarded([&] { return plan_bundle({"sptile_plan_sddmm", kSddmm}, bundle, format, options, plan); });
}

sptile_status sptile_plan_sddmm_csr(int64_t rows, int64_t cols, const int64_t* row_ptr,
                                    const int32_t* col_idx, const void* values, sptile_dtype value_dtype,
                                    const sptile_plan_options* options, sptile_plan** plan) {
  return guarded([&] {
    return plan_csr({"sptile_plan_sddmm_csr", kSddmm}, rows, cols, row_ptr, col_idx, values, value_dtype,
                    options, plan);
  });
}

sptile_status sptile_plan_entries(const sptile_plan* plan, int64_t* entries) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_entries", "plan");
    if (entries == nullptr) return null_argument("sptile_plan_entries", "entries");
    *entries = plan->plan->matrix.format.nnz;
    return {};
  });
}

sptile_status sptile_plan_refresh_packed(sptile_plan* plan, const void* values, sptile_dtype value_dtype,
                                         int64_t count, void* stream) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_refresh_packed", "plan");
    if (values == nullptr && count > 0) return null_argument("sptile_plan_refresh_packed", "values");
    const sptile::Result<sptile::DType> type = value_type(value_dtype, "value_dtype");
    if (!type) return tl::unexpected(type.error());
    return refresh_packed(*plan->plan, {*type, values, count}, stream);
  });
}

sptile_status sptile_sddmm(const sptile_plan* plan, double alpha, const void* x, int64_t ldx, const void* y,
                           int64_t ldy, double beta, void* out, int scaled) {
  return sptile_sddmm_stream(plan, alpha, x, ldx, y, ldy, beta, out, scaled, nullptr);
}

sptile_status sptile_sddmm_stream(const sptile_plan* plan, double alpha, const void* x, int64_t ldx,
                                  const void* y, int64_t ldy, double beta, void* out, int scaled,
                                  void* stream) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_sddmm", "plan");
    return run(*plan->plan, SddmmOperands{x, ldx, y, ldy, out, alpha, beta, scaled != 0}, stream);
  });
}
