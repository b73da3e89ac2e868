#include "runtime/cuda/device/plan.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "formats/layout/csr.hpp"

#include "runtime/core/run_values.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device/gather.hpp"
#include "runtime/cuda/device/parts.hpp"
#include "runtime/cuda/format_check.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Starts the copy of a format, its row order and, `with_source`, its value_source to the device, in one
/// allocation. Errc::device naming the bytes if the device has too little memory.
Result<std::shared_ptr<DeviceFormat>> upload_format(const PlanMatrix& matrix, bool with_source, int ordinal,
                                                    Uploader& uploader) {
  const std::size_t array_count = matrix.format.layout->arrays.size();
  const bool source = with_source && matrix.value_source.present();
  Parts parts;
  std::array<std::size_t, formats::kMaxArrays> offsets{};
  for (std::size_t i = 0; i < array_count; ++i) offsets[i] = parts.add(matrix.format.arrays[i]);
  const std::size_t order_at = parts.add(matrix.row_order.data(), matrix.row_order.size_bytes());
  const std::size_t source_at = source ? parts.add(matrix.value_source) : 0;

  auto buffer = DeviceBuffer::allocate(parts.total(), "the matrix");
  if (!buffer) return tl::unexpected(buffer.error());
  const auto owner = std::make_shared<DeviceBuffer>(std::move(*buffer));
  std::byte* const base = owner->data();
  auto format = std::make_shared<DeviceFormat>();
  format->memory = std::shared_ptr<std::byte>(owner, base);
  format->bytes = parts.total();
  format->ordinal = ordinal;
  format->view = matrix.format;
  for (std::size_t i = 0; i < array_count; ++i)  // absent arrays stay null
    format->view.arrays[i].data = format->view.arrays[i].present() ? base + offsets[i] : nullptr;
  if (!matrix.row_order.empty()) format->row_order = reinterpret_cast<const std::int32_t*>(base + order_at);
  if (source) format->value_source = ArrayView(DType::i64, base + source_at, matrix.value_source.size);
  if (Status s = parts.upload(base, uploader); !s) return tl::unexpected(s.error());
  return format;
}

/// Uploads the schedule, followed by the workspace.
Status upload_schedule(Plan& plan, Uploader& uploader) {
  Parts parts;
  parts.add(plan.schedule.contents().data(), plan.schedule.contents().size());
  // The first step has a separate workspace.
  const std::size_t of_first = plan.first != nullptr ? workspace_bytes(*plan.first) : 0;
  auto work = DeviceBuffer::allocate(parts.total() + workspace_bytes(plan) - of_first,
                                     "the plan's schedule and workspace");
  if (!work) return tl::unexpected(work.error());
  plan.work = std::move(*work);
  plan.schedule_bytes = plan.work.data();
  plan.workspace = plan.work.data() + parts.total();
  if (Status s = parts.upload(plan.work.data(), uploader); !s) return s;
  if (Status s = uploader.clear(plan.workspace, plan.schedule.workspace_bytes); !s) return s;
  plan.schedule.bytes = {};
  plan.schedule.borrowed = {};
  return {};
}

/// Returns whether the format stores entries in another order than the CSR matrix, or reorders rows.
bool has_own_order(const PlanRequest& request) {
  return request.matrix->format.layout != &formats::kCsrLayout || request.matrix->value_source.present() ||
         (request.on_device != nullptr && request.on_device->value_source.present());
}

/// Uses the matrix on the device, or starts to upload and check it.
Status find_matrix(Plan& plan, const PlanRequest& request, Uploader& uploader) {
  plan.matrix = plan.first != nullptr ? plan.first->matrix : request.on_device;
  if (plan.matrix != nullptr) return {};
  auto uploaded = upload_format(*request.matrix, request.refreshable, request.device.ordinal, uploader);
  if (!uploaded) return tl::unexpected(uploaded.error());
  plan.matrix = std::move(*uploaded);
  if (Status s = uploader.send(); !s || !request.unproven) return s;
  return start_check(*plan.matrix, uploader.flag(), uploader.stream());
}

/// Waits for all uploads and for the result of the check.
Status finish(Uploader& uploader, const PlanRequest& request) {
  if (Status s = uploader.finish(); !s || *uploader.flag() == 0) return s;
  return fail(
      Errc::device,
      "the arrays of " + std::string(request.matrix->format.layout->name) +
          " are valid in host memory, but not on the device: they were modified, or the device is faulty");
}

/// Restores the stored schedule, or makes one.
Result<Schedule> schedule_of(const PlanRequest& request) {
  const ScheduleRequest work{.format = request.matrix->format,
                             .n = request.n,
                             .device = request.device,
                             .costs = request.costs,
                             .variant = request.variant,
                             .on_device = request.on_device != nullptr ? &request.on_device->view : nullptr};
  return request.stored != nullptr ? request.kernel->store->restore(work, *request.stored)
                                   : request.kernel->schedule(work);
}

Launch launch_of(const Plan& plan, const Operands& operands) {
  Launch launch;
  launch.format = with_values(plan.matrix->view, operands.values);
  launch.row_order = plan.matrix->row_order;
  launch.schedule = plan.schedule_bytes;
  launch.header = &plan.schedule.header;
  launch.workspace =
      operands.workspace != nullptr ? static_cast<std::byte*>(operands.workspace) : plan.workspace;
  launch.operands = operands;
  launch.n = columns_of(plan, operands);
  launch.sizes = sizes_of(plan, launch.n).run;
  if (!plan.kernel->batched || plan.csr_lists) launch.sizes.heads = 1;
  launch.variant = plan.variant;
  launch.device = &plan.device;
  launch.resources = plan.resources.get();
  return launch;
}

}  // namespace

Result<std::shared_ptr<Plan>> make_plan(const PlanRequest& request) {
  const CurrentDevice current(request.device.ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  if (Status s = check_code(request.device); !s) return tl::unexpected(s.error());
  auto plan = std::make_shared<Plan>();
  plan->op = request.op;
  plan->kernel = request.kernel;
  plan->device = request.device;
  plan->n = request.n;
  plan->variant = request.variant;
  plan->values = request.matrix->format.value_dtype();
  plan->csr_lists = request.csr_lists && has_own_order(request);
  if (request.first != nullptr) {
    auto first = make_plan(*request.first);
    if (!first) return tl::unexpected(first.error());
    plan->first = std::move(*first);
    plan->operands_of_first = request.operands_of_first;
  }
  Uploader uploader;
  if (Status s = find_matrix(*plan, request, uploader); !s) return tl::unexpected(s.error());
  // The device receives the rest of the matrix, then checks it. (All of it could be transferred meanwhile,
  // but OpenMP would start its threads again in another thread, which costs more than it gains.)
  auto schedule = schedule_of(request);
  if (!schedule) return tl::unexpected(schedule.error());
  plan->schedule = std::move(*schedule);
  if (Status s = upload_schedule(*plan, uploader); !s) return tl::unexpected(s.error());
  if (Status s = finish(uploader, request); !s) return tl::unexpected(s.error());
  if (request.kernel->prepare != nullptr) {
    auto made = request.kernel->prepare(plan->schedule.header);
    if (!made) return tl::unexpected(made.error());
    plan->resources = std::move(*made);
  }
  return plan;
}

namespace {

/// Returns the index of the operand that the first step writes.
int passed_on(const Plan& plan) { return plan.operands_of_first.back(); }

/// Returns the offset of that operand, if not given, after the kernel's workspace. If a run provides the
/// workspace, that of the first step follows.
std::size_t passed_at(const Plan& plan) { return whole_parts(plan.schedule.workspace_bytes); }

/// Returns the bytes of one head of that operand.
std::size_t passed_bytes(const Plan& plan) {
  const OperandSpec& spec = plan.op->operands[static_cast<std::size_t>(passed_on(plan))];
  const OperandShape shape = shape_of(spec, sizes_of(plan, plan.n));
  return whole_parts(static_cast<std::size_t>(shape.rows * shape.width) *
                     size_of(type_of(spec, types_of(*plan.kernel))));
}

/// Runs the first step on one head and passes its result to the kernel as an operand.
Status launch_first(const Plan& plan, Operands& operands, void* stream) {
  const bool own = operands.workspace != nullptr;
  auto* const work = own ? static_cast<std::byte*>(operands.workspace) : plan.workspace;
  Operand& passed = operands.dense[passed_on(plan)];
  if (passed.data == nullptr) passed = {work + passed_at(plan), columns_of(plan, operands), 0};
  Operands first;
  for (std::size_t i = 0; i < plan.operands_of_first.size(); ++i)
    first.dense[i] = operands.dense[plan.operands_of_first[i]];
  first.values = operands.values;
  first.n = operands.n;
  if (own) first.workspace = work + passed_at(plan) + passed_bytes(plan);
  return run(*plan.first, first, stream);
}

Status launch_alone(const Plan& plan, const Operands& operands, void* stream) {
  return check(static_cast<cudaError_t>(plan.kernel->launch(launch_of(plan, operands), stream)),
               "launching a kernel");
}

Status launch(const Plan& plan, const Operands& operands, void* stream) {
  if (plan.first == nullptr) return launch_alone(plan, operands, stream);
  Operands all = operands;
  if (Status s = launch_first(plan, all, stream); !s) return s;
  return launch_alone(plan, all, stream);
}

/// Returns the bytes of an operand with one number per entry.
std::size_t list_bytes(const Plan& plan, const OperandSpec& spec) {
  return static_cast<std::size_t>(plan.matrix->view.nnz) * size_of(type_of(spec, types_of(*plan.kernel)));
}

/// Returns the offset of a packed operand, after the kernel's workspace and the previous packed operands.
std::size_t list_at(const Plan& plan, std::size_t operand) {
  std::size_t at = whole_parts(plan.schedule.workspace_bytes);
  for (const OperandSpec& spec : plan.op->operands.first(operand))
    if (spec.extent == Extent::entries) at += whole_parts(list_bytes(plan, spec));
  return at;
}

/// Converts per-entry operands from CSR order to the order of the format, in the workspace: inputs, and
/// results that are added to, so that bits equal those of packed operands.
Status pack_lists(const Plan& plan, Operands& operands, std::byte* work, cudaStream_t stream) {
  const std::span<const std::int64_t> position = plan.matrix->value_source.as<std::int64_t>();
  for (std::size_t i = 0; i < plan.op->operands.size(); ++i) {
    const OperandSpec& spec = plan.op->operands[i];
    void* const list = operands.dense[i].data;
    if (spec.extent != Extent::entries || list == nullptr) continue;
    operands.dense[i].data = work + list_at(plan, i);
    if (spec.result && operands.beta == 0) continue;
    if (Status s = check(gather(operands.dense[i].data, list, position.data(), plan.matrix->view.nnz,
                                size_of(type_of(spec, types_of(*plan.kernel))), stream),
                         "reordering values");
        !s)
      return s;
  }
  return {};
}

/// Launches the kernel on packed operands and scatters the result to CSR order.
Status launch_in_csr_order(const Plan& plan, const Operands& operands, void* stream) {
  auto* const work =
      operands.workspace != nullptr ? static_cast<std::byte*>(operands.workspace) : plan.workspace;
  auto* const on = static_cast<cudaStream_t>(stream);
  const std::size_t last = plan.op->operands.size() - 1;
  Operands packed = operands;
  if (Status s = pack_lists(plan, packed, work, on); !s) return s;
  if (Status s = launch(plan, packed, stream); !s) return s;
  return check(scatter(operands.dense[last].data, packed.dense[last].data,
                       plan.matrix->value_source.as<std::int64_t>().data(), plan.matrix->view.nnz,
                       size_of(type_of(plan.op->result(), types_of(*plan.kernel))), on),
               "reordering values");
}

/// Returns the operands with the strides between heads filled in.
Operands with_batches(const Plan& plan, const Operands& operands, const OperandSizes& sizes) {
  Operands same = operands;
  for (std::size_t i = 0; i < plan.op->operands.size(); ++i)
    same.dense[i].batch = batch_of(plan.op->operands[i], operands.dense[i], sizes);
  return same;
}

Status launch_head(const Plan& plan, const Operands& operands, void* stream) {
  return plan.csr_lists ? launch_in_csr_order(plan, operands, stream) : launch(plan, operands, stream);
}

}  // namespace

Status run(const Plan& plan, const Operands& operands, void* stream) {
  const OperandSizes sizes = sizes_of(plan, columns_of(plan, operands));
  if (shape_of(plan.op->result(), sizes).rows == 0) return {};
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = current.status(); !s) return s;
  const Operands all = with_batches(plan, operands, sizes);
  if (plan.kernel->batched && !plan.csr_lists) return launch(plan, all, stream);
  const DenseTypes types = types_of(*plan.kernel);
  for (std::int64_t head = 0; head < sizes.run.heads; ++head)
    if (Status s =
            launch_head(plan, operands_of_head(*plan.op, all, head, sizes, types, plan.values), stream);
        !s)
      return s;
  return {};
}

std::size_t workspace_bytes(const Plan& plan) {
  if (plan.first != nullptr) return passed_at(plan) + passed_bytes(plan) + workspace_bytes(*plan.first);
  return plan.csr_lists ? list_at(plan, plan.op->operands.size()) : plan.schedule.workspace_bytes;
}

std::int64_t least_n(const Plan& plan) {
  const std::int64_t before = plan.first != nullptr ? least_n(*plan.first) : 1;
  return plan.kernel->least_n == nullptr
             ? before
             : std::max(before, plan.kernel->least_n(plan.schedule.header, plan.n));
}

const ScheduleHeader& schedule_header(const Plan& plan) { return plan.schedule.header; }

const std::shared_ptr<DeviceFormat>& matrix_of(const Plan& plan) { return plan.matrix; }

}  // namespace sptile::runtime::cuda
