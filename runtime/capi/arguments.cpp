#include "runtime/capi/arguments.hpp"

#include "runtime/capi/error.hpp"

namespace sptile::runtime {
namespace {

/// Errc::usage unless the code is in [0, count).
Status check_code(std::int64_t code, std::int64_t count, const char* field, const char* names) {
  if (code >= 0 && code < count) return {};
  return fail(Errc::usage, std::string(field) + " = " + std::to_string(code) + "; use " + names);
}

Status check_codes(const sptile_plan_options& given) {
  const struct {
    std::int32_t code;
    int count;
    const char *what, *choices;
  } codes[] = {
      {given.nonfinite, 2, "options.nonfinite", "SPTILE_NONFINITE_FAST or SPTILE_NONFINITE_STRICT"},
      {given.precision, SPTILE_FP64 + 1, "options.precision",
       "SPTILE_PRECISION_DEFAULT, SPTILE_FP32, SPTILE_TF32, SPTILE_FP16, SPTILE_PRECISION_BF16 or "
       "SPTILE_FP64"},
      {given.choice, 2, "options.choice", "SPTILE_CHOICE_PREDICTED or SPTILE_CHOICE_MEASURED"},
      {given.order, 2, "options.order", "SPTILE_ORDER_PACKED or SPTILE_ORDER_CSR"},
      {given.activation, 2, "options.activation", "SPTILE_ACTIVATION_NONE or SPTILE_RELU"},
      {given.score, 3, "options.score", "SPTILE_SCORE_DOT, SPTILE_SCORE_COSINE or SPTILE_SCORE_ADDITIVE"},
      {given.reserved, 1, "options.reserved", "0"},
  };
  for (const auto& row : codes)
    if (Status s = check_code(row.code, row.count, row.what, row.choices); !s) return s;
  return {};
}

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : text; }

}  // namespace

Result<DType> value_type(std::int64_t code, const char* what) {
  for (const DTypeInfo& row : kDTypes)
    if (row.is_value && static_cast<std::int64_t>(row.dtype) == code) return row.dtype;
  return fail(Errc::usage,
              std::string(what) + " = " + std::to_string(code) +
                  " is not an element type; use SPTILE_F16, SPTILE_BF16, SPTILE_F32 or SPTILE_F64");
}

Result<DType> matrix_value_type(const char* call, const void* values, std::int64_t code, std::int64_t nnz) {
  if (code == SPTILE_NONE) {
    if (values == nullptr) return DType::none;
    return fail(Errc::usage, std::string(call) + ": values are given but value_dtype is SPTILE_NONE");
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
  if (Status s = check_code(code, 2, what, "SPTILE_CPU or SPTILE_CUDA"); !s) return tl::unexpected(s.error());
  return code == SPTILE_CPU ? Device::cpu : Device::cuda;
}

Result<PlanArguments> plan_arguments(const char* call, const sptile_plan_options* from) {
  if (from == nullptr) return null_argument(call, "options");
  const auto given = read_struct<sptile_plan_options>(from, SPTILE_SIZE_WITH(sptile_plan_options, stream),
                                                      SPTILE_PLAN_OPTIONS_INIT, "options");
  if (!given) return tl::unexpected(given.error());
  if (Status s = check_codes(*given); !s) return tl::unexpected(s.error());
  const auto dense = given->dense == SPTILE_NONE ? DType::f32 : value_type(given->dense, "options.dense");
  if (!dense) return tl::unexpected(dense.error());
  const auto result =
      given->result == SPTILE_NONE ? DType::none : value_type(given->result, "options.result");
  if (!result) return tl::unexpected(result.error());
  const auto device = device_of(given->device, "options.device");
  if (!device) return tl::unexpected(device.error());
  PlanArguments arguments;
  PlanOptions& options = arguments.options;
  options.n = given->n;
  options.dense = *dense;
  options.device = *device;
  options.device_ordinal = given->ordinal;
  options.kernel = text_of(given->kernel);
  options.threads = given->threads;
  options.nonfinite = given->nonfinite == SPTILE_NONFINITE_FAST ? NonFinite::fast : NonFinite::strict;
  if (given->precision != SPTILE_PRECISION_DEFAULT) options.precision = precision_of(given->precision);
  options.result = *result;
  options.order = given->order == SPTILE_ORDER_PACKED ? EntryOrder::packed : EntryOrder::csr;
  options.stored = given->replan == 0;
  options.choice = given->choice == SPTILE_CHOICE_PREDICTED ? Choice::predicted : Choice::measured;
  options.variant = {.m = given->m,
                     .heads = given->heads != 0 ? given->heads : 1,
                     .activation = static_cast<Activation>(given->activation),
                     .score = static_cast<Score>(given->score),
                     .transposed_weights = given->transposed_weights != 0};
  arguments.choice.formats = text_of(given->format);
  arguments.choice.side = given->transpose != 0 ? Side::transpose : Side::matrix;
  arguments.choice.stream = given->stream;
  return arguments;
}

}  // namespace sptile::runtime
