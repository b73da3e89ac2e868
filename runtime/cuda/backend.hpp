// The interface between the runtime and CUDA. Without linked kernels, the same functions load them or return
// errors (load_part.cpp).
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

struct DeviceFormat;  // defined in device_format.hpp

/// Returns whether CUDA kernels were compiled in.
bool built();

/// Versions of CUDA as 1000 * major + 10 * minor; 0 if there is none.
struct Versions {
  int built = 0;   ///< toolkit of this build
  int driver = 0;  ///< newest version supported by the installed driver
};
Versions versions();

/// Returns the compute capabilities that this build has machine code for, such as 90; empty without kernels.
std::span<const int> built_capabilities();

/// Describes one device. Errc::device if the device does not exist or this build has no code for its compute
/// capability; Errc::unsupported if no kernels were compiled in.
Result<DeviceInfo> find_device(int ordinal);

/// Returns the number of devices; 0 without a driver.
int device_count();

/// Returns the instances of a kernel; empty for unknown names.
std::span<const DeviceKernel> instances_named(std::string_view kernel);

/// A matrix on a device, with the schedule of one kernel.
class Plan;

/// A matrix in host memory and the kernel instance to plan for it.
struct PlanRequest {
  const Operation* op = nullptr;
  const PlanMatrix* matrix = nullptr;
  /// The same matrix on the device, to be shared by the plan, or null. If given, `matrix` needs only the
  /// arrays read by schedules: no values, columns or orders.
  std::shared_ptr<DeviceFormat> on_device = nullptr;
  const DeviceKernel* kernel = nullptr;
  std::int64_t n = 0;
  Variant variant = {};
  bool refreshable = false;  ///< also upload value_source
  bool csr_lists = false;    ///< per-entry results are returned in CSR order
  /// Only the offsets of the matrix are known to be valid; the device checks the rest, see start_check.
  bool unproven = false;
  DeviceInfo device;
  std::span<const KernelCost> costs = {};  ///< see Kernel::costs
  /// Step to run first on the same matrix, with its operands, or null; see FirstStep. Its plan holds the
  /// matrix on the device.
  const PlanRequest* first = nullptr;
  std::span<const int> operands_of_first = {};
  /// Schedule to restore after validation, or null to make one. Requires a kernel with a store.
  const StoredSchedule* stored = nullptr;
};

/// Uploads the matrix, unless it is on the device, and its schedule, and waits. Errc::device if memory is
/// short (naming the bytes) or if the device finds an unproven matrix invalid; Errc::bad_input if the stored
/// schedule does not fit the matrix.
Result<std::shared_ptr<Plan>> make_plan(const PlanRequest& request);

/// Returns the matrix of a plan.
const std::shared_ptr<DeviceFormat>& matrix_of(const Plan& plan);

/// Enqueues the operation for operands.n columns (0, or 1 to the planned number) on a stream of the plan's
/// device; null is the default stream. `operands` are device pointers.
Status run(const Plan& plan, const Operands& operands, void* stream);

/// Runs with operands in host memory: copies them to the device, runs `warmup` untimed times, then `repeat`
/// times with events around each run, and copies the result back. Returns the seconds of each timed run.
Result<std::vector<double>> run_from_host(const Plan& plan, const Operands& host, int warmup, int repeat);

/// Returns device memory filled with repetitions of a pattern. Errc::device, naming the bytes, if memory is
/// short.
Result<std::shared_ptr<std::byte>> make_scratch(int ordinal, std::span<const std::byte> pattern,
                                                std::size_t bytes);

/// Times `groups` groups of `runs` consecutive runs on the default stream, with operands in device memory.
/// Returns the seconds per run of each group.
Result<std::vector<double>> time_groups(const Plan& plan, const Operands& operands, int groups, int runs);

/// Waits for the work enqueued on a stream.
Status wait(int ordinal, void* stream);

/// Returns whether devices can read this memory directly.
bool is_device_memory(const void* pointer);

/// Replaces the values by those of the source CSR. For host memory, waits for all work of the device, which
/// may still read the old values, and for the copy. For device memory, only enqueues.
Status refresh(DeviceFormat& matrix, ArrayView values, void* stream);

/// Enqueues a copy of all values from device memory, packed in the order of the format.
Status refresh_packed(DeviceFormat& matrix, const void* values, void* stream);

/// Copies the value_source of a format to its device and waits. Errc::device, naming the bytes, if memory is
/// short.
Status upload_source(DeviceFormat& matrix, ArrayView source);

/// Enqueues a copy of packed values to CSR order. Returns the values in the format's buffer for new values,
/// or `packed` itself if both orders are equal.
Result<ArrayView> unpack(DeviceFormat& order, ArrayView packed, void* stream);

/// Returns the bytes of device workspace for a run.
std::size_t workspace_bytes(const Plan& plan);

/// Returns the minimum n for which the schedule is as good as one made for that n.
std::int64_t least_n(const Plan& plan);

/// Returns the part of the plan's schedule that launches read.
const ScheduleHeader& schedule_header(const Plan& plan);

}  // namespace sptile::runtime::cuda
