// What a type can do to the values that are rounded to it, beyond an ordinary loss of digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"

namespace sptile::formats {

/// A finite value became infinite, a nonzero became 0, an integer became another number.
enum class Loss { overflow, underflow, inexact };

/// How many values of a matrix were lost in each way.
struct LossCounts {
  std::int64_t overflowed = 0;
  std::int64_t underflowed = 0;
  std::int64_t inexact = 0;

  void add(Loss loss, std::int64_t count = 1);
  LossCounts& operator+=(const LossCounts& other);
  [[nodiscard]] bool any() const { return overflowed != 0 || underflowed != 0 || inexact != 0; }
};

/// The counts, and the first of these values.
struct ValueLoss : LossCounts {
  std::optional<Error> first;  ///< Errc::bad_input with place and value, where they are known

  ValueLoss& operator+=(const ValueLoss& later);
};

/// Tells what rounding `before` to `after` lost; nothing where at most digits are gone.
inline std::optional<Loss> find_loss(double before, double after, bool is_integer) {
  if (before == after || !std::isfinite(before)) return std::nullopt;
  if (!std::isfinite(after)) return Loss::overflow;
  if (after == 0) return Loss::underflow;
  return is_integer ? std::optional(Loss::inexact) : std::nullopt;
}

/// Tells whether `rounded`, to which an integer of 64 bits was rounded, is that integer.
template <class T>
bool is_exactly(double rounded, T integer) {
  constexpr double kLimit =
      std::is_signed_v<T> ? 0x1p63 : 0x1p64;  // from here on a conversion back overflows
  return rounded < kLimit && static_cast<T>(rounded) == integer;
}

/// "value 1e300 is too large for f32".
std::string describe_loss(Loss loss, std::string_view value, DType narrow);

}  // namespace sptile::formats
