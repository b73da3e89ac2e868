// Plans and runs of the C interface.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/capi/handles.hpp"
#include "runtime/handle/plan.hpp"

namespace sptile::runtime {
namespace {

Status create_plan(sptile_matrix* handle, const char* operation, const sptile_plan_options* options,
                   sptile_plan** out) {
  constexpr const char* kCall = "sptile_plan_create";
  if (out == nullptr) return null_argument(kCall, "plan");
  *out = nullptr;
  if (handle == nullptr) return null_argument(kCall, "matrix");
  const auto op = operation_named(kCall, operation);
  if (!op) return tl::unexpected(op.error());
  const auto arguments = plan_arguments(kCall, options);
  if (!arguments) return tl::unexpected(arguments.error());
  auto plan = plan_matrix(*handle->matrix, **op, arguments->choice, arguments->options);
  if (!plan) return tl::unexpected(plan.error());
  *out = new sptile_plan{std::move(*plan)};
  return {};
}

Status describe_plan(const sptile_plan* handle, sptile_plan_info* info) {
  if (handle == nullptr) return null_argument("sptile_plan_describe", "plan");
  if (info == nullptr) return null_argument("sptile_plan_describe", "info");
  const ProductPlan& plan = *handle->plan;
  const formats::FormatView& a = plan.matrix.format;
  return write_struct<sptile_plan_info>(info,
                                        {.size = sizeof(sptile_plan_info),
                                         .operation = plan.op->name.data(),  // literals of tables
                                         .format = a.layout->name.data(),
                                         .kernel = plan.kernel->name.data(),
                                         .rows = a.rows,
                                         .cols = a.cols,
                                         .entries = a.nnz,
                                         .n = plan.options.n,
                                         .least_n = least_n(plan),
                                         .workspace_bytes = workspace_bytes(plan),
                                         .dense = static_cast<std::int32_t>(plan.options.dense),
                                         .result = static_cast<std::int32_t>(types_of(plan.options).result),
                                         .precision = code_of(plan.precision),
                                         .device = code_of(plan.options.device),
                                         .ordinal = plan.options.device_ordinal,
                                         .order = static_cast<std::int32_t>(plan.options.order),
                                         .stored = is_stored(plan) ? 1 : 0,
                                         .values = static_cast<std::int32_t>(plan.values)},
                                        SPTILE_SIZE_WITH(sptile_plan_info, values), "info");
}

sptile_prediction prediction_of(const Candidate& candidate) {
  sptile_prediction p = {};
  p.format = candidate.format.data();  // literals of the format and kernel tables
  p.kernel = candidate.kernel == nullptr ? nullptr : candidate.kernel->name.data();
  p.microseconds = candidate.predicted_us.value_or(-1);
  p.precision = candidate.refused.empty() ? code_of(candidate.precision) : SPTILE_PRECISION_DEFAULT;
  p.usable = candidate.refused.empty() ? 1 : 0;
  p.chosen = candidate.chosen ? 1 : 0;
  return p;
}

/// The caller's array of predictions.
struct PredictionList {
  void* data;
  std::size_t element_size;
  int capacity;
  int* count;
};

Status predict(const sptile_matrix* handle, const char* operation, const sptile_plan_options* options,
               const PredictionList& out) {
  constexpr const char* kCall = "sptile_predict";
  if (out.count == nullptr) return null_argument(kCall, "count");
  *out.count = 0;
  if (handle == nullptr) return null_argument(kCall, "matrix");
  if (out.data == nullptr && out.capacity > 0) return null_argument(kCall, "predictions");
  if (out.element_size < sizeof(sptile_prediction) || out.capacity < 0)
    return fail(Errc::usage, std::string(kCall) + ": element_size = " + std::to_string(out.element_size) +
                                 ", capacity = " + std::to_string(out.capacity) +
                                 "; pass sizeof(sptile_prediction) and the elements of the array");
  const auto op = operation_named(kCall, operation);
  if (!op) return tl::unexpected(op.error());
  const auto arguments = plan_arguments(kCall, options);
  if (!arguments) return tl::unexpected(arguments.error());
  const auto list = predict_matrix(*handle->matrix, **op, arguments->choice, arguments->options);
  if (!list) return tl::unexpected(list.error());
  *out.count = static_cast<int>(list->size());
  for (std::size_t i = 0; i < std::min(list->size(), static_cast<std::size_t>(out.capacity)); ++i) {
    const sptile_prediction p = prediction_of((*list)[i]);
    std::byte* const element = static_cast<std::byte*>(out.data) + i * out.element_size;
    std::memset(element, 0, out.element_size);  // zeroes the fields of a newer caller
    std::memcpy(element, &p, sizeof p);
  }
  return {};
}

/// Returns the operands of a run. Leading dimensions of 0 are the number of columns.
Result<Operands> operands_of(const sptile_operands& given, const sptile_workspace* workspace,
                             const ProductPlan& plan) {
  static_assert(kMaxOperands == SPTILE_MAX_OPERANDS + SPTILE_MORE_OPERANDS);
  const std::int64_t n = given.n != 0 ? given.n : plan.options.n;
  const OperandSizes sizes = sizes_of(plan, n);
  Operands operands;
  operands.n = n;
  for (std::size_t i = 0; i < plan.op->operands.size(); ++i) {
    const sptile_operand& one =
        i < SPTILE_MAX_OPERANDS ? given.dense[i] : given.more[i - SPTILE_MAX_OPERANDS];
    operands.dense[i] = {one.data, one.ld != 0 ? one.ld : shape_of(plan.op->operands[i], sizes).width,
                         one.batch};
  }
  operands.values = given.values.data;
  operands.values_batch = given.values.batch;
  operands.alpha = given.alpha;
  operands.beta = given.beta;
  if (Status s = set_attributes(operands, given.attributes, given.attribute_count, "operands"); !s)
    return tl::unexpected(s.error());
  if (workspace != nullptr) {
    operands.workspace = workspace->data;
    operands.workspace_size = workspace->bytes;
  }
  return operands;
}

Status run_plan(const sptile_plan* handle, const sptile_operands* from, void* stream,
                const sptile_workspace* workspace) {
  if (handle == nullptr) return null_argument("sptile_run", "plan");
  if (from == nullptr) return null_argument("sptile_run", "operands");
  const auto given = read_struct<sptile_operands>(from, SPTILE_SIZE_WITH(sptile_operands, reserved),
                                                  SPTILE_OPERANDS_INIT, "operands");
  if (!given) return tl::unexpected(given.error());
  if (given->reserved != 0) return fail(Errc::usage, "operands.reserved is not 0");
  const ProductPlan& plan = *handle->plan;
  const auto operands = operands_of(*given, workspace, plan);
  if (!operands) return tl::unexpected(operands.error());
  return run(plan, *plan.op, *operands, stream);
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;

int sptile_abi_version(void) { return 3; }

const char* sptile_version(void) { return SPTILE_VERSION; }

sptile_status sptile_plan_create(sptile_matrix* matrix, const char* operation,
                                 const sptile_plan_options* options, sptile_plan** plan) {
  return guarded([&] { return create_plan(matrix, operation, options, plan); });
}

void sptile_plan_destroy(sptile_plan* plan) { delete plan; }

sptile_status sptile_plan_describe(const sptile_plan* plan, sptile_plan_info* info) {
  return guarded([&] { return describe_plan(plan, info); });
}

sptile_status sptile_predict(const sptile_matrix* matrix, const char* operation,
                             const sptile_plan_options* options, sptile_prediction* predictions,
                             size_t element_size, int capacity, int* count) {
  return guarded([&] {
    return predict(matrix, operation, options, {predictions, element_size, capacity, count});
  });
}

sptile_status sptile_run(const sptile_plan* plan, const sptile_operands* operands, void* stream,
                         const sptile_workspace* workspace) {
  return guarded([&] { return run_plan(plan, operands, stream, workspace); });
}
