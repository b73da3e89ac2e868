// What a CUDA kernel is to the planner: a row of plain data and two functions. No CUDA header is needed to
// read it.
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
#include "runtime/cuda/schedule.hpp"

namespace sptile::runtime::cuda {

/// What scheduling and launching need to know of a device.
struct DeviceInfo {
  int ordinal = 0;
  int capability = 0;  ///< 10 * major + minor: 90
  int sm_count = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_per_block = 0;  ///< with opt-in
  std::size_t memory = 0;
  std::string name = {};
};

/// A number that the device's profile has for a kernel, see Kernel::costs.
struct KernelCost {
  std::string_view name;
  double value = 0;
};

/// What is divided: a matrix whose arrays are in host memory, values and columns may be missing. Its offsets
/// are good. Masks and ids may be anything where there is FormatLayout::check_offsets: nobody runs a schedule
/// of bad ones, but making it stays inside the arrays.
struct ScheduleRequest {
  const formats::FormatView& format;
  std::int64_t n = 0;  ///< most columns of a launch
  const DeviceInfo& device;
  std::span<const KernelCost> costs = {};
  Variant variant = {};

  /// A cost; nothing when the profile does not have it.
  [[nodiscard]] std::optional<double> cost(std::string_view name) const {
    for (const KernelCost& known : costs)
      if (known.name == name) return known.value;
    return std::nullopt;
  }
};

/// What a kernel must serve: a matrix of so many columns, times so many.
struct ServiceRequest {
  std::int64_t cols = 0, n = 0;
  const Variant& variant;
  const DeviceInfo& device;
};

/// Everything one launch needs. Arrays of `format`, operands and `schedule` are in device memory.
struct Launch {
  formats::FormatView format;
  const std::int32_t* row_order = nullptr;  ///< new_to_old; null: rows go where they stand
  const std::byte* schedule = nullptr;      ///< Schedule::bytes
  const ScheduleHeader* header = nullptr;
  std::byte* workspace = nullptr;
  Operands operands;
  std::int64_t n = 0;  ///< columns: 1 to those that were scheduled
  RunSizes sizes;      ///< n again, m, and heads: 1 where the kernel is not batched
  Variant variant;
  const DeviceInfo* device = nullptr;
  void* resources = nullptr;  ///< what DeviceKernel::prepare made; null: nothing, or it could not be made

  /// A part of the schedule.
  template <class T>
  [[nodiscard]] const T* part(std::int64_t at) const {
    return reinterpret_cast<const T*>(schedule + at);
  }
};

/// How the schedules of a kernel are stored, and come back.
struct ScheduleStore {
  std::uint32_t version;  ///< of what is stored, and of all that is worked out from it
  std::vector<std::int64_t> (*numbers)(const ScheduleHeader& header);
  /// Proves that a schedule is one of the matrix, whatever it is made of: launches of it read and write what
  /// they may, and all of the result. It borrows the bytes. Errc::bad_input with what is wrong.
  Result<Schedule> (*restore)(const ScheduleRequest& request, const StoredSchedule& stored);
};

/// One instance of a kernel. The same kernel may have several for one pair of types: the first is its default
/// precision.
struct DeviceKernel {
  std::string_view kernel;  ///< its name in kernels(): "cuda.bittcf.mma"
  DType values;             ///< of A; none for a pattern
  DType dense;              ///< of the dense operands
  Precision precision;
  int capability;  ///< the least that it runs on: 80
  /// Effect of NaN and infinity in dense operands. If true, every result is what IEEE arithmetic gives for
  /// the factors that it uses. If false, zeros of tiles are multiplied as well, so results in a window that
  /// references such a row of B may be NaN instead. Rows that a window does not reference never affect it.
  bool ieee;

  /// Divides the work.
  Schedule (*schedule)(const ScheduleRequest& request);
  /// Enqueues the product: allocates nothing, never waits, writes every row of C or every entry of the
  /// result. Returns a cudaError_t.
  int (*launch)(const Launch& launch, void* stream) noexcept;
  bool any_values = false;  ///< serves every type of values: `values` says nothing
  /// Makes what launches of a schedule want beside memory, on the current device; null: nothing.
  Result<std::shared_ptr<void>> (*prepare)(const ScheduleHeader& header) = nullptr;
  /// Least n whose own schedule would divide the work as this one for n columns; null: it does not depend on
  /// n.
  std::int64_t (*least_n)(const ScheduleHeader& header, std::int64_t n) = nullptr;
  DType result = DType::none;            ///< of results; none: as `dense`
  const ScheduleStore* store = nullptr;  ///< null: its schedules are not stored
  /// Null, or: says why sizes and weights of this kind are none for it, with what they need and what the
  /// device has.
  Status (*check)(const ServiceRequest& request) = nullptr;
  bool batched = false;        ///< a launch serves all heads; operands have the batch that they need
  int last_capability = 1000;  ///< the last that it runs on
};

constexpr bool runs_on(const DeviceKernel& kernel, int capability) {
  return kernel.capability <= capability && capability <= kernel.last_capability;
}
constexpr DenseTypes types_of(const DeviceKernel& kernel) { return {kernel.dense, kernel.result}; }

}  // namespace sptile::runtime::cuda
