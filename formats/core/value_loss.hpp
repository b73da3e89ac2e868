// Losses of rounding values to a narrower type, other than ordinary loss of precision.
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

/// Overflow: a finite value became infinite. Underflow: a nonzero became 0. Inexact: an integer changed.
enum class Loss { overflow, underflow, inexact };

/// Number of values lost in each way.
struct LossCounts {
  std::int64_t overflowed = 0;
  std::int64_t underflowed = 0;
  std::int64_t inexact = 0;

  void add(Loss loss, std::int64_t count = 1);
  LossCounts& operator+=(const LossCounts& other);
  [[nodiscard]] bool any() const { return overflowed != 0 || underflowed != 0 || inexact != 0; }
};

/// Counts, and the first lost value.
struct ValueLoss : LossCounts {
  std::optional<Error> first;  ///< Errc::bad_input with location and value, if known

  ValueLoss& operator+=(const ValueLoss& later);
};

/// Classifies the loss of rounding `before` to `after`; nothing if only precision is lost.
inline std::optional<Loss> find_loss(double before, double after, bool is_integer) {
  if (before == after || !std::isfinite(before)) return std::nullopt;
  if (!std::isfinite(after)) return Loss::overflow;
  if (after == 0) return Loss::underflow;
  return is_integer ? std::optional(Loss::inexact) : std::nullopt;
}

/// Returns whether `rounded` equals the 64-bit integer that was rounded to it.
template <class T>
bool is_exactly(double rounded, T integer) {
  constexpr double kLimit = std::is_signed_v<T> ? 0x1p63 : 0x1p64;  // from here on, converting back overflows
  return rounded < kLimit && static_cast<T>(rounded) == integer;
}

/// Returns a message such as "value 1e300 is too large for f32".
std::string describe_loss(Loss loss, std::string_view value, DType narrow);

}  // namespace sptile::formats
