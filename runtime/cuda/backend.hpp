// The seam between the runtime and CUDA: what the rest of the runtime knows of it. Where no kernels are
// linked in, the same functions load them or return errors (load_part.cpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "runtime/core/matrix.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime::cuda {

struct DeviceFormat;  // device_format.hpp

/// True when CUDA kernels were compiled in.
bool built();

/// Versions of CUDA, 1000 * major + 10 * minor; 0: none.
struct Versions {
  int built = 0;   ///< of the toolkit that this build was made with
  int driver = 0;  ///< the newest that the driver here knows
};
Versions versions();

/// Describes one device. Errc::device when it is not there or this build has no code for it, naming the
/// compute capability; Errc::unsupported when no kernel was compiled in.
Result<DeviceInfo> find_device(int ordinal);

/// Counts devices; 0 without a driver too.
int device_count();

/// The instances of a kernel, by its name; none for other kernels.
std::span<const DeviceKernel> instances_named(std::string_view kernel);

/// A matrix on a device with the schedule of one kernel.
class Plan;

/// What is planned: a matrix in host memory, and the instance to run.
struct PlanRequest {
  const Operation* op = nullptr;
  const PlanMatrix* matrix = nullptr;
  /// When not null, the same matrix on the device, which the plan shares; `matrix` then needs only what
  /// schedules read: no values, no columns, no order.
  std::shared_ptr<DeviceFormat> on_device = nullptr;
  const DeviceKernel* kernel = nullptr;
  std::int64_t n = 0;
  Variant variant = {};
  bool refreshable = false;  ///< value_source is uploaded, too
  bool csr_lists = false;    ///< the result has a number for each entry, and is wanted in CSR order
  /// Only the offsets of the matrix are known to be good: the rest is checked on the device, see start_check.
  bool unproven = false;
  DeviceInfo device;
  std::span<const KernelCost> costs = {};  ///< see Kernel::costs
  /// Not null: what runs before, on the same matrix, and its operands: see FirstStep. It has the matrix on
  /// the device.
  const PlanRequest* first = nullptr;
  std::span<const int> operands_of_first = {};
  /// Not null: a schedule to take, once it is proven, instead of making one. The kernel has a store.
  const StoredSchedule* stored = nullptr;
};

/// Uploads the matrix, where it is not there yet, and its schedule; returns when the device has them.
/// Errc::device naming the bytes when the device has no room, or when it finds the matrix, unproven, not to
/// be good; Errc::bad_input when the stored schedule is none of the matrix.
Result<std::shared_ptr<Plan>> make_plan(const PlanRequest& request);

/// The matrix that a plan multiplies with.
const std::shared_ptr<DeviceFormat>& matrix_of(const Plan& plan);

/// Enqueues the product of operands.n columns, 0 or 1 to those planned, on a stream (null: the default one)
/// of the plan's device. `operands` are device pointers.
Status run(const Plan& plan, const Operands& operands, void* stream);

/// Runs with operands in host memory, for programs that have no device memory of their own: copies them to
/// the device, runs `warmup` times, then `repeat` times, each between two events, and copies the result back.
/// Gives the seconds of each timed run.
Result<std::vector<double>> run_from_host(const Plan& plan, const Operands& host, int warmup, int repeat);

/// Device memory filled with copies of a pattern, one after the other. Errc::device naming the bytes when the
/// device has no room.
Result<std::shared_ptr<std::byte>> make_scratch(int ordinal, std::span<const std::byte> pattern,
                                                std::size_t bytes);

/// Runs with operands in device memory on the default stream: `groups` times `runs` that follow each other.
/// Gives the seconds of one run of each group.
Result<std::vector<double>> time_groups(const Plan& plan, const Operands& operands, int groups, int runs);

/// Waits for what was enqueued on a stream.
Status wait(int ordinal, void* stream);

/// True for memory that devices read directly.
bool is_device_memory(const void* pointer);

/// Replaces the values by those of the source CSR. Out of host memory: waits for all work of the device,
/// which may still read the old ones, and until the new ones are in place. Out of device memory: enqueues.
Status refresh(DeviceFormat& matrix, ArrayView values, void* stream);

/// Enqueues copying the values of all entries, packed as the format stores them, from device memory.
Status refresh_packed(DeviceFormat& matrix, const void* values, void* stream);

/// Copies the value_source of a format to its device, and waits. Errc::device naming the bytes when there is
/// no room.
Status upload_source(DeviceFormat& matrix, ArrayView source);

/// Enqueues putting values packed as a format stores them into CSR order. They are in the format's own memory
/// for new values then, or where they were when the orders are the same.
Result<ArrayView> unpack(DeviceFormat& order, ArrayView packed, void* stream);

/// Device scratch that a run needs, in bytes.
std::size_t workspace_bytes(const Plan& plan);

/// Least n that the schedule serves as well as one made for that n.
std::int64_t least_n(const Plan& plan);

/// What launching reads of the plan's schedule.
const ScheduleHeader& schedule_header(const Plan& plan);

}  // namespace sptile::runtime::cuda
