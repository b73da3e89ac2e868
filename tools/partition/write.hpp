// Writer of a partition directory.
#pragma once

#include <string>

#include "formats/io/files/atomic_folder.hpp"
#include "tools/partition/description.hpp"

namespace sptile::tools {

/// Output directory and attributes of a partition.
struct PartitionTask {
  std::string out;
  std::string method, reorder, source;  ///< attributes for information only
  std::uint64_t seed = 1;
};

/// Writes the parts and partition.json into a directory that becomes visible on commit. Memory: one matrix of
/// one part, and its transpose if the entire matrix is not symmetric. The survey must be that of the source
/// and the division.
Result<PartitionDescription> write_partition(const RowSource& source, const reorder::Division& division,
                                             const Survey& survey, const PartitionTask& task,
                                             const formats::AtomicFolder& folder, Progress* progress);

/// Returns an id shared by the parts of a partition: a hash of the matrix and the positions.
std::uint64_t partition_id(const reorder::Division& division, std::uint64_t content);

}  // namespace sptile::tools
