#include "runtime/capi/arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "runtime/capi/error.hpp"

namespace sptile::runtime {
namespace {

constexpr sptile_spmm_options kDefaults = {sizeof(sptile_spmm_options),
                                           0,
                                           SPTILE_F32,
                                           SPTILE_CPU,
                                           0,
                                           0,
                                           0,
                                           SPTILE_NONFINITE_FAST,
                                           nullptr,
                                           SPTILE_PRECISION_DEFAULT,
                                           0,
                                           SPTILE_CHOICE_PREDICTED,
                                           0};

/// Size of the options of the first version: no caller has less.
constexpr std::size_t kFirstSize = offsetof(sptile_spmm_options, kernel) + sizeof(const char*);

tl::unexpected<Error> unknown_field() {
  return fail(Errc::usage, "options set a field that sptile " SPTILE_VERSION " does not know");
}

/// Takes options of any version: fields that the caller does not know keep their defaults, fields that this
/// library does not know must be zero.
Status read_options(const sptile_spmm_options* from, sptile_spmm_options& options) {
  if (from == nullptr) return null_argument("sptile_plan_spmm", "options");
  if (from->size < kFirstSize)
    return fail(Errc::usage, "options.size = " + std::to_string(from->size) +
                                 "; call sptile_spmm_options_init(&options, sizeof options) first");
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(options); i < from->size; ++i)
    if (bytes[i] != 0) return unknown_field();
  options = kDefaults;
  std::memcpy(&options, from, std::min(from->size, sizeof(options)));
  return {};
}

}  // namespace

Result<DType> value_type(std::int64_t code, const char* what) {
  for (const DTypeInfo& row : kDTypes)
    if (row.is_value && static_cast<std::int64_t>(row.dtype) == code) return row.dtype;
  return fail(Errc::usage, std::string(what) + " = " + std::to_string(code) +
                               " is no element type; use SPTILE_F16, SPTILE_BF16, SPTILE_F32 or SPTILE_F64");
}

Result<DType> matrix_value_type(const char* call, const void* values, sptile_dtype code, std::int64_t nnz) {
  if (code == SPTILE_NONE) {
    if (values == nullptr) return DType::none;
    return fail(Errc::usage, std::string(call) + ": values are given but value_dtype is SPTILE_NONE");
  }
  if (values == nullptr && nnz > 0) return null_argument(call, "values");
  return value_type(code, "value_dtype");
}

Result<PlanOptions> convert_options(const sptile_spmm_options* from) {
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
  if (given.choice != SPTILE_CHOICE_PREDICTED && given.choice != SPTILE_CHOICE_MEASURED)
    return fail(Errc::usage, "options.choice = " + std::to_string(given.choice) +
                                 "; use SPTILE_CHOICE_PREDICTED or SPTILE_CHOICE_MEASURED");
  if (given.reserved != 0) return unknown_field();
  PlanOptions options;
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
  options.choice = given.choice == SPTILE_CHOICE_PREDICTED ? Choice::predicted : Choice::measured;
  return options;
}

}  // namespace sptile::runtime

using namespace sptile::runtime;
using sptile::Errc;
using sptile::fail;
using sptile::Status;

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
