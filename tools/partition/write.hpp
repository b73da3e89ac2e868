// Writes the folder of a partition.
#pragma once

#include <string>

#include "formats/io/files/atomic_folder.hpp"
#include "tools/partition/description.hpp"

namespace sptile::tools {

/// What was asked for.
struct PartitionTask {
  std::string out;
  std::string method, reorder, source;  ///< for people
  std::uint64_t seed = 1;
};

/// Writes part after part, and partition.json, into a folder that is not visible yet; commit it. Holds one
/// matrix of one part at a time, and its transpose where the whole is not symmetric. The survey must be that
/// of the source and the division.
Result<PartitionDescription> write_partition(const RowSource& source, const reorder::Division& division,
                                             const Survey& survey, const PartitionTask& task,
                                             const formats::AtomicFolder& folder, Progress* progress);

/// What all parts of a partition have in common and nobody else: a hash of the matrix and of the places.
std::uint64_t partition_id(const reorder::Division& division, std::uint64_t content);

}  // namespace sptile::tools
