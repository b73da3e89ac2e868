// The table of methods that divide a matrix among parts.
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
  bool streams;              ///< reads no more of the matrix than where its rows start
  /// Divides a square matrix (asserted) among 1 .. kMostParts parts; the same for any number of threads.
  Result<Division> (*run)(const formats::CsrView& a, std::int32_t parts, const PartitionOptions& options);
};

std::span<const PartitionMethod> partition_methods();

/// Finds a method by name; nullptr when there is none.
const PartitionMethod* find_partition_method(std::string_view name);

}  // namespace sptile::reorder
