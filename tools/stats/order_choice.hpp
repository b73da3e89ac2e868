// Tells what a method that compares orders chose.
#pragma once

#include <string>

#include "tools/cli/result.hpp"
#include "tools/pipeline/order.hpp"

namespace sptile::tools {

/// {chosen, why}; null when the method had no choice.
Json to_json(const OrderChoice& choice);

/// "auto chose degree order: 24 blocks of 8 rows and 8 columns; the original order 30\n"; empty when the
/// method had no choice.
std::string choice_text(const Ordering& ordering, const OrderChoice& choice);

}  // namespace sptile::tools
