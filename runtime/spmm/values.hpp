// Stored values on their way to the accumulator type. Compiled once per instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/spmm/lanes.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Value type of a pattern matrix: nothing is stored, every entry is 1.
struct Ones {};

/// Moves past `count` values; a pattern has no array to move in.
template <class V>
[[gnu::always_inline]] inline const V* skip(const V* values, std::int64_t count) {
  if constexpr (std::is_same_v<V, Ones>)
    return values;
  else
    return values + count;
}

/// The last few values of an array, one by one; out of line because it is rare.
template <class V, class A>
[[gnu::noinline]] void copy_last_values(const V* from, int count, A* to) {
  for (int i = 0; i < count; ++i) store<1>(to + i, load<1>(from + i));
}

/// Writes the next `count` <= 8 values to `to`, which has room for 8. Reads 8 at once where the array (it
/// ends at `end`) has them; what is beyond `count` is overwritten later or never looked at.
template <class V, class A>
[[gnu::always_inline]] inline void copy_values(const V* from, const V* end, int count, A* to) {
  if (end - from >= 8)
    store<8>(to, load<8>(from));
  else
    copy_last_values(from, count, to);
}

}  // namespace sptile::runtime::SPTILE_ISA
