// The attributes of a plan beside n, one list for all that goes through them.
#pragma once

#include "runtime/core/operands.hpp"

namespace sptile::runtime {

/// Calls visit(name, member) for each attribute of a Variant. Keys of stored plans use these names.
template <class Visit>
constexpr void for_each_attribute(const Visit& visit) {
  // A new member does not compile here, so that it is not forgotten below.
  [[maybe_unused]] const auto [m, heads, activation, score, transposed_weights] = Variant{};
  visit("m", &Variant::m);
  visit("heads", &Variant::heads);
  visit("activation", &Variant::activation);
  visit("score", &Variant::score);
  visit("transposed_weights", &Variant::transposed_weights);
}

}  // namespace sptile::runtime
