#include "runtime/capi/arguments.hpp"

#include "runtime/capi/error.hpp"

namespace sptile::runtime {
namespace {

/// Errc::usage unless the code is in [0, count).
Status check_code(std::int64_t code, std::int64_t count, const char* field, const char* names) {
  if (code >= 0 && code < count) return {};
  return fail(Errc::usage, std::string(field) + " = " + std::to_string(code) + "; use " + names);
}

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : text; }

}  // namespace

Result<DType> value_type(std::int64_t code, const char* what) {
  for (const DTypeInfo& row : kDTypes)
    if (row.is_value && static_cast<std::int64_t>(row.dtype) == code) return row.dtype;
  return fail(Errc::usage, std::string(what) + " = " + std::to_string(code) +
                               " is not an element type; use SPTILE_DTYPE_F16, SPTILE_DTYPE_BF16, "
                               "SPTILE_DTYPE_F32 or SPTILE_DTYPE_F64");
}

Result<DType> matrix_value_type(const char* call, const void* values, std::int64_t code, std::int64_t nnz) {
  if (code == SPTILE_DTYPE_NONE) {
    if (values == nullptr) return DType::none;
    return fail(Errc::usage, std::string(call) + ": values are given but value_dtype is SPTILE_DTYPE_NONE");
  }
  if (values == nullptr && nnz > 0) return null_argument(call, "values");
  return value_type(code, "value_dtype");
}

Result<const Operation*> operation_named(const char* call, const char* name) {
  if (name == nullptr) return null_argument(call, "operation");
  std::string names;
  for (const Operation* op : operations()) {
    if (op->name == name) return op;
    names += (names.empty() ? "" : ", ") + std::string(op->name);
  }
  return fail(Errc::usage, std::string(call) + ": unknown operation " + name + "; known: " + names);
}

Result<Device> device_of(std::int64_t code, const char* what) {
  if (Status s = check_code(code, 2, what, "SPTILE_DEVICE_CPU or SPTILE_DEVICE_CUDA"); !s)
    return tl::unexpected(s.error());
  return code == SPTILE_DEVICE_CPU ? Device::cpu : Device::cuda;
}

Result<PlanArguments> plan_arguments(const char* call, const sptile_plan_options* from) {
  if (from == nullptr) return null_argument(call, "options");
  const auto given = read_struct<sptile_plan_options>(from, SPTILE_SIZE_WITH(sptile_plan_options, reserved),
                                                      SPTILE_PLAN_OPTIONS_INIT, "options");
  if (!given) return tl::unexpected(given.error());
  if (given->reserved != 0) return fail(Errc::usage, "options.reserved is not 0");
  const auto dense =
      given->dense == SPTILE_DTYPE_NONE ? DType::f32 : value_type(given->dense, "options.dense");
  if (!dense) return tl::unexpected(dense.error());
  const auto result =
      given->result == SPTILE_DTYPE_NONE ? DType::none : value_type(given->result, "options.result");
  if (!result) return tl::unexpected(result.error());
  const auto device = device_of(given->device, "options.device");
  if (!device) return tl::unexpected(device.error());
  PlanArguments arguments;
  PlanOptions& options = arguments.options;
  options.n = given->n;
  options.dense = *dense;
  options.result = *result;
  options.device = *device;
  options.device_ordinal = given->ordinal;
  options.kernel = text_of(given->kernel);
  options.threads = given->threads;
  if (Status s = set_attributes(options, given->attributes, given->attribute_count, "options"); !s)
    return tl::unexpected(s.error());
  arguments.choice.formats = text_of(given->format);
  arguments.choice.side = given->transpose != 0 ? Side::transpose : Side::matrix;
  arguments.choice.stream = given->stream;
  return arguments;
}

}  // namespace sptile::runtime
