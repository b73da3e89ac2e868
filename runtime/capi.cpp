// Plans and runs of the C interface.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/bundle_matrix.hpp"
#include "runtime/capi_error.hpp"
#include "runtime/capi_handles.hpp"
#include "runtime/choice/choice.hpp"
#include "runtime/spmm_plan.hpp"

namespace sptile::runtime {
namespace {

constexpr sptile_spmm_options kDefaults = {
    sizeof(sptile_spmm_options), 0, SPTILE_F32, SPTILE_CPU, 0, 0, 0, SPTILE_NONFINITE_FAST, nullptr,
    SPTILE_PRECISION_DEFAULT,    0};

/// Size of the options of the first version: no caller has less.
constexpr std::size_t kFirstSize = offsetof(sptile_spmm_options, kernel) + sizeof(const char*);

/// Takes options of any version: fields that the caller does not know keep their defaults, fields that this
/// library does not know must be zero.
Status read_options(const sptile_spmm_options* from, sptile_spmm_options& options) {
  if (from == nullptr) return null_argument("sptile_plan_spmm", "options");
  if (from->size < kFirstSize)
    return fail(Errc::usage, "options.size = " + std::to_string(from->size) +
                                 "; call sptile_spmm_options_init(&options, sizeof options) first");
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(options); i < from->size; ++i)
    if (bytes[i] != 0)
      return fail(Errc::usage, "options set a field that sptile " SPTILE_VERSION " does not know");
  options = kDefaults;
  std::memcpy(&options, from, std::min(from->size, sizeof(options)));
  return {};
}

/// Finds the value type with this code.
Result<DType> value_type(std::int64_t code, const char* what) {
  for (const DTypeInfo& row : kDTypes)
    if (row.is_value && static_cast<std::int64_t>(row.dtype) == code) return row.dtype;
  return fail(Errc::usage, std::string(what) + " = " + std::to_string(code) +
                               " is no element type; use SPTILE_F16, SPTILE_BF16, SPTILE_F32 or SPTILE_F64");
}

/// Both directions of the precisions of the C interface, which count from 1 in the order of ours.
constexpr Precision precision_of(int code) { return static_cast<Precision>(code - SPTILE_FP32); }
constexpr sptile_precision code_of(Precision precision) {
  return static_cast<sptile_precision>(static_cast<int>(precision) + SPTILE_FP32);
}
static_assert(precision_of(SPTILE_TF32) == Precision::tf32 && precision_of(SPTILE_FP16) == Precision::fp16);
static_assert(precision_of(SPTILE_PRECISION_BF16) == Precision::bf16 &&
              code_of(Precision::fp64) == SPTILE_FP64);

Result<SpmmOptions> convert_options(const sptile_spmm_options* from) {
  sptile_spmm_options given;
  if (Status s = read_options(from, given); !s) return tl::unexpected(s.error());
  const Result<DType> dense = value_type(given.dense, "options.dense");
  if (!dense) return tl::unexpected(dense.error());
  if (given.device != SPTILE_CPU && given.device != SPTILE_CUDA)
    return fail(Errc::usage,
                "options.device = " + std::to_string(given.device) + "; use SPTILE_CPU or SPTILE_CUDA");
  if (given.nonfinite != SPTILE_NONFINITE_FAST && given.nonfinite != SPTILE_NONFINITE_STRICT)
    return fail(Errc::usage, "options.nonfinite = " + std::to_string(given.nonfinite) +
                                 "; use SPTILE_NONFINITE_FAST or SPTILE_NONFINITE_STRICT");
  if (given.precision < SPTILE_PRECISION_DEFAULT || given.precision > SPTILE_FP64)
    return fail(Errc::usage, "options.precision = " + std::to_string(given.precision) +
                                 "; use SPTILE_PRECISION_DEFAULT, SPTILE_FP32, SPTILE_TF32, SPTILE_FP16, "
                                 "SPTILE_PRECISION_BF16 or SPTILE_FP64");
  SpmmOptions options;
  options.n = given.n;
  options.dense = *dense;
  options.device = given.device == SPTILE_CPU ? Device::cpu : Device::cuda;
  options.kernel = given.kernel == nullptr ? std::string_view{} : std::string_view{given.kernel};
  options.threads = given.threads;
  options.trusted = given.trusted != 0;
  options.refreshable = given.refreshable != 0;
  options.nonfinite = given.nonfinite == SPTILE_NONFINITE_FAST ? NonFinite::fast : NonFinite::strict;
  if (given.precision != SPTILE_PRECISION_DEFAULT) options.precision = precision_of(given.precision);
  options.device_ordinal = given.ordinal;
  return options;
}

Status give_plan(Result<std::shared_ptr<SpmmPlan>> plan, sptile_plan** out) {
  if (!plan) return tl::unexpected(plan.error());
  *out = new sptile_plan{std::move(*plan)};
  return {};
}

/// The formats that the caller names; null: all.
Result<std::vector<SpmmMatrix>> named_matrices(const sptile_bundle* handle, const char* formats) {
  return matrices_of(handle->bundle, formats == nullptr ? std::string_view() : std::string_view(formats));
}

Status plan_bundle(const sptile_bundle* handle, const char* format, const sptile_spmm_options* from,
                   sptile_plan** out) {
  if (out == nullptr) return null_argument("sptile_plan_spmm", "plan");
  *out = nullptr;
  if (handle == nullptr) return null_argument("sptile_plan_spmm", "bundle");
  const Result<SpmmOptions> options = convert_options(from);
  if (!options) return tl::unexpected(options.error());
  const Result<std::vector<SpmmMatrix>> matrices = named_matrices(handle, format);
  if (!matrices) return tl::unexpected(matrices.error());
  if (matrices->size() == 1) return give_plan(plan_spmm(matrices->front(), *options), out);
  return give_plan(plan_spmm(std::span<const SpmmMatrix>(*matrices), *options), out);
}

sptile_prediction prediction_of(const Candidate& candidate) {
  sptile_prediction p = {};
  p.format = candidate.format.data();  // literals of the tables of formats and kernels
  p.kernel = candidate.kernel == nullptr ? nullptr : candidate.kernel->name.data();
  p.microseconds = candidate.predicted_us.value_or(-1);
  p.precision = code_of(candidate.precision);
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
  const Result<SpmmOptions> options = convert_options(from);
  if (!options) return tl::unexpected(options.error());
  const Result<std::vector<SpmmMatrix>> matrices = named_matrices(handle, formats);
  if (!matrices) return tl::unexpected(matrices.error());
  const auto list = predict_spmm(*matrices, *options);
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
Result<SpmmMatrix> borrow_csr(std::int64_t rows, std::int64_t cols, const std::int64_t* row_ptr,
                              const std::int32_t* col_idx, const void* values, sptile_dtype dtype) {
  constexpr std::int64_t kMaxId = 0x7fffffff;
  if (rows < 0 || cols < 0)
    return fail(Errc::usage, "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                                 "; sizes are not negative");
  if (rows > kMaxId || cols > kMaxId)
    return fail(Errc::unsupported, "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                                       "; row and column ids are 32-bit");
  if (row_ptr == nullptr) return null_argument("sptile_plan_spmm_csr", "row_ptr");
  const std::int64_t nnz = row_ptr[rows];
  if (nnz < 0 || nnz > std::int64_t{1} << 60)
    return fail(Errc::bad_input, "row_ptr[rows] = " + std::to_string(nnz) + " is no number of entries");
  if (col_idx == nullptr && nnz > 0) return null_argument("sptile_plan_spmm_csr", "col_idx");
  formats::CsrView csr{rows,
                       cols,
                       {row_ptr, static_cast<std::size_t>(rows) + 1},
                       {col_idx, static_cast<std::size_t>(nnz)},
                       {}};
  if (dtype != SPTILE_NONE) {
    const Result<DType> type = value_type(dtype, "value_dtype");
    if (!type) return tl::unexpected(type.error());
    if (values == nullptr && nnz > 0) return null_argument("sptile_plan_spmm_csr", "values");
    csr.values = ArrayView(*type, values, nnz);
  } else if (values != nullptr) {
    return fail(Errc::usage, "values are given but value_dtype is SPTILE_NONE");
  }
  return SpmmMatrix{formats::as_format(csr), {}, {}, nullptr};
}

/// Passes a field out where the caller wants it.
template <class T>
void give(T* out, T value) {
  if (out != nullptr) *out = value;
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;
using sptile::Errc;
using sptile::fail;
using sptile::Status;

int sptile_abi_version(void) { return 1; }

const char* sptile_version(void) { return SPTILE_VERSION; }

sptile_status sptile_spmm_options_init(sptile_spmm_options* options, size_t size) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("sptile_spmm_options_init", "options");
    if (size < kFirstSize)
      return fail(Errc::usage, "sptile_spmm_options_init: size = " + std::to_string(size) +
                                   "; pass sizeof(sptile_spmm_options)");
    std::memset(options, 0, size);
    std::memcpy(options, &kDefaults, std::min(size, sizeof(kDefaults)));
    options->size = size;
    return {};
  });
}

sptile_status sptile_plan_spmm(const sptile_bundle* bundle, const char* format,
                               const sptile_spmm_options* options, sptile_plan** plan) {
  return guarded([&] { return plan_bundle(bundle, format, options, plan); });
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
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_plan_spmm_csr", "plan");
    *plan = nullptr;
    const sptile::Result<SpmmOptions> converted = convert_options(options);
    if (!converted) return tl::unexpected(converted.error());
    const sptile::Result<SpmmMatrix> matrix = borrow_csr(rows, cols, row_ptr, col_idx, values, value_dtype);
    if (!matrix) return tl::unexpected(matrix.error());
    return give_plan(plan_spmm(*matrix, *converted), plan);
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
  return guarded([&]() -> Status {
    if (plan == nullptr) return null_argument("sptile_spmm", "plan");
    return run(*plan->plan, {b, ldb, c, ldc, alpha, beta, workspace}, stream);
  });
}
