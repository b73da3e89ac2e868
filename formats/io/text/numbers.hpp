// Conversion of stored numbers from files of other programs.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/core/buffer.hpp"

namespace sptile::formats {

enum class NumberKind { boolean, integer, natural, real, complex };

/// A stored number type. Complex numbers are two reals with `bytes` bytes in total.
struct NumberType {
  NumberKind kind = NumberKind::real;
  int bytes = 8;         ///< 1, 2, 4 or 8; complex numbers: 8 or 16
  bool swapped = false;  ///< big-endian
};

/// Returns the type that these values are converted to: f16, f32 and f64 unchanged, complex numbers to their
/// real part's type, all others to f64.
DType value_type(NumberType type);

/// Converts `count` stored numbers to value_type(type) at `to`. Integers beyond 2^53 are rounded; returns the
/// number of those that changed.
std::int64_t to_values(NumberType type, const char* from, std::int64_t count, void* to);

/// Returns true for signed and unsigned integers.
inline bool is_integer(NumberKind kind) { return kind == NumberKind::integer || kind == NumberKind::natural; }

/// Reads one signed or unsigned integer; nothing if it exceeds a signed 64-bit integer.
std::optional<std::int64_t> to_integer(NumberType type, const char* from);

/// Returns whether all values are exactly 1.
bool all_ones(ArrayView values);

}  // namespace sptile::formats
