// Table of partitioning methods.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/core/progress.hpp"
#include "reorder/partition/division.hpp"

namespace sptile::reorder {

struct PartitionOptions {
  std::uint64_t seed = 1;
  Progress* progress = nullptr;
};

/// One row of the table.
struct PartitionMethod {
  std::string_view name;     ///< "metis"
  std::string_view summary;  ///< one line for the help
  bool streams;              ///< reads only the row pointers of the matrix
  /// Divides a square matrix (asserted) into 1 .. kMaxParts parts; the same for any number of threads.
  Result<Division> (*run)(const formats::CsrView& a, std::int32_t parts, const PartitionOptions& options);
};

std::span<const PartitionMethod> partition_methods();

/// Returns the method with this name, or nullptr.
const PartitionMethod* find_partition_method(std::string_view name);

}  // namespace sptile::reorder
