// Output of the choice of a method that compares orders.
#pragma once

#include <string>

#include "tools/cli/result.hpp"
#include "tools/pipeline/order.hpp"

namespace sptile::tools {

/// Returns {chosen, why}; null if the method has no choice.
Json to_json(const OrderChoice& choice);

/// Returns "auto chose degree order: 24 blocks of 8 rows and 8 columns; the original order 30\n"; empty if
/// the method has no choice.
std::string choice_text(const Ordering& ordering, const OrderChoice& choice);

}  // namespace sptile::tools
