// Checks of an open bundle for `verify`.
#pragma once

#include <string>
#include <vector>

#include "formats/core/progress.hpp"
#include "runtime/bundle/bundle.hpp"

namespace sptile::tools {

struct BundleCheck {
  std::string name;  ///< for example "checksum /csr/values" or "round trip bittcf"
  Status outcome;
};

/// Runs every check: the checksum of each array; the invariants of /csr, its row order and each format; that
/// each format expands to the matrix of /csr; that value sources lead to the stored values; that the matrix
/// is symmetric if stated; the same for the transpose. Later checks require earlier ones to pass, so they
/// stop at the first failure. The bundle is valid if all pass. Checksums can be skipped for further matrices
/// of a bundle whose arrays were compared before.
std::vector<BundleCheck> check_bundle(const runtime::Bundle& bundle, Progress* progress,
                                      bool checksums = true);

}  // namespace sptile::tools
