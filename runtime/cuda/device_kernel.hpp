// Description of CUDA kernels for the planner: plain data and functions, without CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/core/options.hpp"
#include "runtime/core/stored_plan.hpp"
#include "runtime/cuda/policy.hpp"
#include "runtime/cuda/schedule.hpp"

namespace sptile::runtime::cuda {

/// Properties of a device used by scheduling and launching.
struct DeviceInfo {
  int ordinal = 0;
  int capability = 0;  ///< 10 * major + minor: 90
  int sm_count = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_per_block = 0;  ///< maximum with opt-in
  std::size_t memory = 0;
  std::string name = {};
};

/// A value of the device's profile for a kernel; see Kernel::costs.
struct KernelCost {
  std::string_view name;
  double value = 0;
};

/// Input of a schedule: a matrix in host memory, of which values and columns may be missing. Its offsets are
/// valid. If FormatLayout::check_offsets exists, masks and ids may be invalid: such a schedule is never run,
/// but making it must stay within the arrays.
struct ScheduleRequest {
  const formats::FormatView& format;
  std::int64_t n = 0;  ///< maximum columns of a launch
  const DeviceInfo& device;
  std::span<const KernelCost> costs = {};
  Variant variant = {};
  /// The same matrix in the memory of the current device, complete; null: it is not there yet.
  const formats::FormatView* on_device = nullptr;

  /// Returns a cost; nothing if the profile does not contain it.
  [[nodiscard]] std::optional<double> cost(std::string_view name) const {
    for (const KernelCost& known : costs)
      if (known.name == name) return known.value;
    return std::nullopt;
  }
};

/// Sizes that a kernel must support: columns of the matrix and of the operand.
struct ServiceRequest {
  std::int64_t cols = 0, n = 0;
  const Variant& variant;
  const DeviceInfo& device;
};

/// Arguments of one launch. The arrays of `format`, operands and `schedule` are in device memory.
struct Launch {
  formats::FormatView format;
  const std::int32_t* row_order = nullptr;  ///< new_to_old; null: original order
  const std::byte* schedule = nullptr;      ///< Schedule::bytes
  const ScheduleHeader* header = nullptr;
  std::byte* workspace = nullptr;
  Operands operands;
  std::int64_t n = 0;  ///< columns: 1 to the scheduled number
  RunSizes sizes;      ///< n, m and heads; heads is 1 if the kernel is not batched
  Variant variant;
  const DeviceInfo* device = nullptr;
  void* resources = nullptr;  ///< result of DeviceKernel::prepare; null: none, or it failed

  /// Returns a part of the schedule.
  template <class T>
  [[nodiscard]] const T* part(std::int64_t at) const {
    return reinterpret_cast<const T*>(schedule + at);
  }
};

/// Storage of the schedules of a kernel.
struct ScheduleStore {
  std::uint32_t version;  ///< version of the stored data and of the algorithm that completes it
  std::vector<std::int64_t> (*numbers)(const ScheduleHeader& header);
  /// Validates arbitrary stored data as a schedule of the matrix: launches of the result access only valid
  /// memory and write the entire result. Borrows the bytes. Errc::bad_input with the reason.
  Result<Schedule> (*restore)(const ScheduleRequest& request, const StoredSchedule& stored);
};

/// An instance of a kernel. A kernel may have several instances for one pair of types; the first one has its
/// default precision.
struct DeviceKernel {
  std::string_view kernel;  ///< name in kernels(): "cuda.bittcf.mma"
  DType values;             ///< type of A's values; none for a pattern
  DType dense;              ///< type of the dense operands
  Precision precision;
  int capability;  ///< minimum compute capability: 80
  /// Effect of NaN and infinity in dense operands. If true, every result is what IEEE arithmetic gives for
  /// the factors that it uses. If false, zeros of tiles are multiplied as well, so results in a window that
  /// references such a row of B may be NaN instead. Rows that a window does not reference never affect it.
  bool ieee;

  /// Makes a schedule.
  Schedule (*schedule)(const ScheduleRequest& request);
  /// Enqueues the operation: allocates nothing, never waits, and writes every row of C or every entry of the
  /// result. Returns a cudaError_t.
  int (*launch)(const Launch& launch, void* stream) noexcept;
  bool any_values = false;  ///< supports every value type; `values` is ignored
  /// Creates resources for launches of a schedule on the current device, other than memory; null: none
  /// needed.
  Result<std::shared_ptr<void>> (*prepare)(const ScheduleHeader& header) = nullptr;
  /// Returns the minimum n whose schedule would equal this one, made for n columns; null: schedules do not
  /// depend on n.
  std::int64_t (*least_n)(const ScheduleHeader& header, std::int64_t n) = nullptr;
  DType result = DType::none;            ///< type of results; none: same as `dense`
  const ScheduleStore* store = nullptr;  ///< null: schedules are not stored
  /// Returns why the kernel does not support the sizes and weights, with the required and available
  /// resources; null: supports all.
  Status (*check)(const ServiceRequest& request) = nullptr;
  bool batched = false;        ///< a launch processes all heads, using the batch strides of operands
  int last_capability = 1000;  ///< maximum compute capability
  /// Returns the tuning policy for a compute capability; null: the kernel has none.
  PolicyValues (*policy)(int capability) = nullptr;
};

constexpr bool runs_on(const DeviceKernel& kernel, int capability) {
  return kernel.capability <= capability && capability <= kernel.last_capability;
}
constexpr DenseTypes types_of(const DeviceKernel& kernel) { return {kernel.dense, kernel.result}; }

}  // namespace sptile::runtime::cuda
