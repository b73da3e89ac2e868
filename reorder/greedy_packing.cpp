#include "reorder/greedy_packing.hpp"

#include <algorithm>

#include "reorder/methods/pack.hpp"

namespace sptile::reorder {

std::optional<GreedyPacking> only_greedy(const ReorderOptions& options) {
  const auto number = [&](std::string_view name) {
    return static_cast<int>(setting(options, kPackParameters, name));
  };
  if (number("match-from-rows") != 0 || number("swap-passes") != 0 || number("match-rows") > 1)
    return std::nullopt;
  return GreedyPacking{{std::max(1, options.window_rows), number("longest-list"), number("lookups")},
                       number("degree-base")};
}

}  // namespace sptile::reorder
