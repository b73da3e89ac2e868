// What `verify` finds out about an open bundle.
#pragma once

#include <string>
#include <vector>

#include "formats/core/progress.hpp"
#include "runtime/bundle/bundle.hpp"

namespace sptile::tools {

struct BundleCheck {
  std::string name;  ///< "checksum /csr/values", "round trip bittcf"
  Status outcome;
};

/// Runs every check: the checksum of each array; the invariants of /csr, its row order and each format; that
/// each format, expanded, is the matrix of /csr; that value sources lead to the stored values; that the
/// matrix is symmetric where that is stated; the same of the transpose. Later ones rely on what earlier ones
/// found sound, so they stop where one fails. The bundle is sound when all pass.
/// Without checksums: of a further matrix of a bundle whose arrays were compared already.
std::vector<BundleCheck> check_bundle(const runtime::Bundle& bundle, Progress* progress,
                                      bool checksums = true);

}  // namespace sptile::tools
