// Row orders computed on a device. Builds without nvcc have the same functions, which return errors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/core/packing_rules.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// A step of an ordering, for messages.
struct OrderStep {
  std::string name;  ///< for example "graph"
  double seconds = 0;
};

/// A row order in device memory.
struct DeviceOrder {
  const std::int32_t* new_to_old = nullptr;  ///< one per row
  std::shared_ptr<std::byte> memory;
  std::vector<OrderStep> steps;
};

/// Computes the order of reorder::order_by_rabbit on the device of a matrix, with the same bits. Reads the
/// structure only; row_order must be null. Enqueues on `stream` and waits for it.
///
/// Errc::bad_input, with the position, if the matrix is not valid CSR; Errc::unsupported if the graph has
/// more than 2^31 - 1 vertices or 2^32 - 1 links; Errc::device, naming the bytes, if memory is short. Needs
/// up to 28 bytes per nonzero for the transpose, then about 12 bytes per link of the graph (a symmetric
/// matrix has one link per nonzero off the diagonal), and about 120 bytes per vertex. Memory as in
/// convert_on_device.
Result<DeviceOrder> rabbit_on_device(const DeviceCsr& a, void* stream);

/// Parameters of packing, see reorder::order_by_packing.
struct PackParameters {
  packing::GreedyRules rules;
  int degree_base = 0;  ///< see packing::starts_by_degree
};

/// Computes the order of reorder::order_by_packing with preset fast on the device of a matrix, with the same
/// bits. Otherwise as rabbit_on_device. Errc::unsupported if the longest row needs more than 2^30 lookups.
/// Needs up to 48 bytes per nonzero and, for each of up to 32 chains, 4 bytes per row and per column and up
/// to 48 bytes per lookup of the longest row.
Result<DeviceOrder> pack_on_device(const DeviceCsr& a, const PackParameters& parameters, void* stream);

}  // namespace sptile::runtime::cuda
