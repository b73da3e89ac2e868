// Table of the orderings that CUDA devices compute.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "reorder/core/options.hpp"
#include "runtime/cuda/device_order.hpp"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

/// An ordering on devices, with the bits of the same method on the CPU.
struct DeviceOrdering {
  std::string_view method;  ///< name in reorder::reorderers()
  std::string_view label;   ///< method and preset
  /// Returns whether devices support the settings; others run on the CPU.
  bool (*accepts)(const reorder::ReorderOptions&);
  /// Orders a matrix on its device. Reads the structure only.
  Result<runtime::cuda::DeviceOrder> (*run)(const runtime::cuda::DeviceCsr&, const reorder::ReorderOptions&);
};

/// Returns all orderings on devices.
std::span<const DeviceOrdering> device_orderings();

/// Returns the ordering on devices of this method with these settings, or nullptr.
const DeviceOrdering* find_device_ordering(std::string_view method, const reorder::ReorderOptions& options);

/// An order in host memory and on the device that computed it.
struct DeviceAndHostOrder {
  std::vector<std::int32_t> new_to_old;
  runtime::cuda::DeviceOrder on_device;
};

/// Orders a matrix on its device, and copies the order to the host. Reports the seconds of each step.
Result<DeviceAndHostOrder> order_on_device(Work& work, const DeviceOrdering& ordering,
                                           const runtime::cuda::DeviceCsr& a,
                                           const reorder::ReorderOptions& options);

}  // namespace sptile::tools
