// What `verify` finds out about the folder of a partition.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/progress.hpp"
#include "runtime/bundle/part.hpp"
#include "tools/bundle/checks.hpp"
#include "tools/partition/description.hpp"

namespace sptile::tools {

/// A partition whose parts were all opened and belong together.
struct OpenPartition {
  PartitionDescription description;
  std::vector<runtime::Part> parts;
};

/// Runs every check, and adds each to `checks`: partition.json; that each part is there, whole, of this
/// partition and at its place; of each part what check_bundle checks of both its matrices; that each row is
/// in one part; that what parts send is what others need; that the parts put together are the matrix whose
/// fingerprint partition.json holds, bit by bit, and symmetric if that is stated. Gives the parts where all
/// could be opened; with `copy` they are read into memory instead of being mapped. Each error names its file.
std::optional<OpenPartition> check_partition(const std::string& folder, Progress* progress,
                                             std::vector<BundleCheck>& checks, bool copy = false);

/// Puts the parts of a partition together that has passed all checks.
formats::Csr whole_matrix(const OpenPartition& partition);

}  // namespace sptile::tools
