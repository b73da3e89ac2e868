// Packing without swaps and matching, which devices support.
#pragma once

#include <optional>

#include "formats/core/packing_rules.hpp"
#include "reorder/core/options.hpp"

namespace sptile::reorder {

/// Parameters of greedy packing.
struct GreedyPacking {
  packing::GreedyRules rules;
  int degree_base = 0;  ///< see packing::starts_by_degree
};

/// Returns the parameters if `pack` with these settings only packs windows greedily, as with preset fast.
std::optional<GreedyPacking> only_greedy(const ReorderOptions& options);

}  // namespace sptile::reorder
