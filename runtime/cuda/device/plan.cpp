#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device/gather.hpp"
#include "runtime/cuda/device/plan.hpp"
#include "runtime/cuda/device/upload.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

namespace {

constexpr std::size_t kAlignment = 256;

/// Parts of one device allocation: placed first, then uploaded.
class Parts {
 public:
  /// Gives the part's offset.
  std::size_t add(const void* from, std::size_t bytes) {
    parts_.push_back({from, bytes, total_});
    total_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return parts_.back().offset;
  }
  std::size_t add(const ArrayView& array) { return add(array.data, static_cast<std::size_t>(array.bytes())); }
  [[nodiscard]] std::size_t total() const { return total_; }

  /// Kernels that copy whole pieces read a little around a part: what stands there is defined, too.
  Status upload(std::byte* to, Uploader& uploader) const {
    for (const Part& part : parts_) {
      std::byte* const end = to + part.offset + part.bytes;
      if (Status s = uploader.copy(to + part.offset, part.from, part.bytes); !s) return s;
      if (Status s = uploader.clear(end, (kAlignment - part.bytes % kAlignment) % kAlignment); !s) return s;
    }
    return {};
  }

 private:
  struct Part {
    const void* from;
    std::size_t bytes, offset;
  };
  std::vector<Part> parts_;
  std::size_t total_ = 0;
};

/// Uploads the matrix, in one allocation.
Status upload_matrix(Plan& plan, const PlanRequest& request, Uploader& uploader) {
  const PlanMatrix& matrix = *request.matrix;
  const std::size_t array_count = matrix.format.layout->arrays.size();
  const bool with_source = request.refreshable && matrix.value_source.present();
  Parts parts;
  std::array<std::size_t, formats::kMaxArrays> offsets{};
  for (std::size_t i = 0; i < array_count; ++i) offsets[i] = parts.add(matrix.format.arrays[i]);
  const std::size_t order = parts.add(matrix.row_order.data(), matrix.row_order.size_bytes());
  const std::size_t source = with_source ? parts.add(matrix.value_source) : 0;

  auto arrays = DeviceBuffer::allocate(parts.total(), "the matrix");
  if (!arrays) return tl::unexpected(arrays.error());
  plan.arrays = std::move(*arrays);
  std::byte* const base = plan.arrays.data();
  plan.format = matrix.format;
  for (std::size_t i = 0; i < array_count; ++i)  // absent arrays stay null
    plan.format.arrays[i].data = plan.format.arrays[i].present() ? base + offsets[i] : nullptr;
  if (!matrix.row_order.empty()) plan.row_order = reinterpret_cast<const std::int32_t*>(base + order);
  if (with_source) plan.value_source = reinterpret_cast<const std::int64_t*>(base + source);
  return parts.upload(base, uploader);
}

/// Takes a matrix that is on the device already.
Status adopt_matrix(Plan& plan, const PlanRequest& request) {
  const DeviceFormat& matrix = *request.on_device;
  plan.format = matrix.view;
  plan.matrix_memory = matrix.memory;
  if (request.refreshable && matrix.value_source.present()) {
    plan.value_source = matrix.value_source.as<std::int64_t>().data();
    plan.source_memory = matrix.source_memory;
  }
  if (request.device_row_order == nullptr) return {};
  const std::size_t bytes = static_cast<std::size_t>(matrix.view.rows) * sizeof(std::int32_t);
  auto order = DeviceBuffer::allocate(bytes, "the row order");
  if (!order) return tl::unexpected(order.error());
  plan.arrays = std::move(*order);
  plan.row_order = reinterpret_cast<const std::int32_t*>(plan.arrays.data());
  if (Status s =
          check(cudaMemcpy(plan.arrays.data(), request.device_row_order, bytes, cudaMemcpyDeviceToDevice),
                "copying the row order");
      !s)
    return s;
  // Such a copy may return early, and streams that wait for none do not see it.
  return check(cudaStreamSynchronize(nullptr), "copying the row order");
}

/// Uploads the schedule; behind it stands the workspace.
Status upload_schedule(Plan& plan, Uploader& uploader) {
  Parts parts;
  parts.add(plan.schedule.contents().data(), plan.schedule.contents().size());
  auto work = DeviceBuffer::allocate(parts.total() + plan.schedule.workspace_bytes,
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

/// Takes the stored one, or divides the work now.
Result<Schedule> schedule_of(const PlanRequest& request) {
  const ScheduleRequest work{request.matrix->format, request.n, request.device, request.costs};
  return request.stored != nullptr ? request.kernel->store->restore(work, *request.stored)
                                   : request.kernel->schedule(work);
}

/// True for memory that the device reads directly.
bool is_on_device(const void* pointer) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
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
  Uploader uploader;
  if (Status s = request.on_device == nullptr ? upload_matrix(*plan, request, uploader)
                                              : adopt_matrix(*plan, request);
      !s)
    return tl::unexpected(s.error());
  // The last of the matrix is still on its way. (All of it could be, but OpenMP would start its threads anew
  // in another thread, which costs more than it gains.)
  auto schedule = schedule_of(request);
  if (!schedule) return tl::unexpected(schedule.error());
  plan->schedule = std::move(*schedule);
  if (Status s = upload_schedule(*plan, uploader); !s) return tl::unexpected(s.error());
  if (Status s = uploader.finish(); !s) return tl::unexpected(s.error());
  if (request.kernel->prepare != nullptr) {
    auto made = request.kernel->prepare(plan->schedule.header);
    if (!made) return tl::unexpected(made.error());
    plan->resources = std::move(*made);
  }
  return plan;
}

namespace {

Launch launch_of(const Plan& plan, const Operands& operands) {
  Launch launch;
  launch.format = plan.format;
  launch.row_order = plan.row_order;
  launch.schedule = plan.schedule_bytes;
  launch.header = &plan.schedule.header;
  launch.workspace =
      operands.workspace != nullptr ? static_cast<std::byte*>(operands.workspace) : plan.workspace;
  launch.operands = operands;
  launch.n = plan.n;
  launch.device = &plan.device;
  launch.resources = plan.resources.get();
  return launch;
}

}  // namespace

Status run(const Plan& plan, const Operands& operands, void* stream) noexcept {
  if (extent_of(plan.op->result(), plan.format.rows, plan.format.cols, plan.format.nnz) == 0) return {};
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = current.status(); !s) return s;
  return check(static_cast<cudaError_t>(plan.kernel->launch(launch_of(plan, operands), stream)),
               "launching a kernel");
}

Status refresh(Plan& plan, ArrayView values) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = current.status(); !s) return s;
  // Runs that were enqueued before still read the old values.
  if (Status s = check(cudaDeviceSynchronize(), "waiting for earlier runs"); !s) return s;
  const auto bytes = static_cast<std::size_t>(values.bytes());
  const void* source = values.data;
  if (!is_on_device(values.data)) {
    if (plan.fresh.size() < bytes) {
      auto room = DeviceBuffer::allocate(bytes, "new values");
      if (!room) return tl::unexpected(room.error());
      plan.fresh = std::move(*room);
    }
    Uploader uploader;
    if (Status s = uploader.copy(plan.fresh.data(), values.data, bytes); !s) return s;
    if (Status s = uploader.finish(); !s) return s;
    source = plan.fresh.data();
  }
  std::int64_t position = 0;
  for (std::size_t i = 0; i < plan.format.layout->arrays.size(); ++i) {
    const ArrayView& array = plan.format.arrays[i];
    if (!plan.format.layout->arrays[i].holds_values || array.size == 0) continue;
    void* const to = const_cast<void*>(array.data);
    const cudaError_t code =
        plan.value_source == nullptr
            ? cudaMemcpyAsync(to, source, bytes, cudaMemcpyDeviceToDevice)
            : gather(to, source, plan.value_source + position, array.size, size_of(array.dtype), nullptr);
    if (Status s = check(code, "moving new values"); !s) return s;
    position += array.size;
  }
  return check(cudaStreamSynchronize(nullptr), "moving new values");
}

Status refresh_packed(Plan& plan, const void* values, void* stream) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = current.status(); !s) return s;
  const auto* from = static_cast<const std::byte*>(values);
  for (std::size_t i = 0; i < plan.format.layout->arrays.size(); ++i) {
    const ArrayView& array = plan.format.arrays[i];
    if (!plan.format.layout->arrays[i].holds_values || array.size == 0) continue;
    const auto bytes = static_cast<std::size_t>(array.bytes());
    const cudaError_t code = cudaMemcpyAsync(const_cast<void*>(array.data), from, bytes,
                                             cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream));
    if (Status s = check(code, "moving new values"); !s) return s;
    from += bytes;
  }
  return {};
}

std::size_t workspace_bytes(const Plan& plan) { return plan.schedule.workspace_bytes; }

const ScheduleHeader& schedule_header(const Plan& plan) { return plan.schedule.header; }

}  // namespace sptile::runtime::cuda
