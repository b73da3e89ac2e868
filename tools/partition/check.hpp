// Checks of a partition directory for `verify`.
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

/// A partition whose parts are all open and belong together.
struct OpenPartition {
  PartitionDescription description;
  std::vector<runtime::Part> parts;
};

/// Runs every check and appends its result to `checks`: partition.json; that each part exists, is complete,
/// and is of this partition and rank; check_bundle for both matrices of each part; that each row is in one
/// part; that parts send the rows that others need; that the parts together equal the matrix with the
/// fingerprint in partition.json, bit by bit, and are symmetric if stated. Returns the parts if all could be
/// opened; with `copy` they are read into memory instead of mapped. Each error names its file.
std::optional<OpenPartition> check_partition(const std::string& folder, Progress* progress,
                                             std::vector<BundleCheck>& checks, bool copy = false);

/// Joins the parts of a partition that has passed all checks.
formats::Csr whole_matrix(const OpenPartition& partition);

}  // namespace sptile::tools
