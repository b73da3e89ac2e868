// Numbers of the types that files of other programs hold.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/core/buffer.hpp"

namespace sptile::formats {

enum class NumberKind { boolean, integer, natural, real, complex };

/// One type of number as it is stored. Complex numbers have two real parts, `bytes` in all.
struct NumberType {
  NumberKind kind = NumberKind::real;
  int bytes = 8;         ///< 1, 2, 4 or 8; 8 or 16 of complex numbers
  bool swapped = false;  ///< the most significant byte stands first
};

/// The type that values of this one are read as: f16, f32 and f64 as they are, complex numbers as their real
/// part, all others f64.
DType value_type(NumberType type);

/// Makes values of value_type(type), `count` of them at `to`, of stored numbers. Integers beyond 2^53 are
/// rounded; returns how many of them that changed.
std::int64_t to_values(NumberType type, const char* from, std::int64_t count, void* to);

/// True of integers and natural numbers.
inline bool is_integer(NumberKind kind) { return kind == NumberKind::integer || kind == NumberKind::natural; }

/// Reads one integer (or natural number); nothing where it does not fit 64 bits with a sign.
std::optional<std::int64_t> to_integer(NumberType type, const char* from);

/// True where all values are exactly 1.
bool all_ones(ArrayView values);

}  // namespace sptile::formats
