// The attributes of a plan except n, in one list.
#pragma once

#include "runtime/core/operands.hpp"

namespace sptile::runtime {

/// Calls visit(name, member) for each attribute of a Variant. The names are part of the keys of stored plans.
template <class Visit>
constexpr void for_each_attribute(const Visit& visit) {
  // A new member breaks this structured binding, so that it cannot be forgotten below.
  [[maybe_unused]] const auto [m, heads, activation, score, transposed_weights] = Variant{};
  visit("m", &Variant::m);
  visit("heads", &Variant::heads);
  visit("activation", &Variant::activation);
  visit("score", &Variant::score);
  visit("transposed_weights", &Variant::transposed_weights);
}

}  // namespace sptile::runtime
