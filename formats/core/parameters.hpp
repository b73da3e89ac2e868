// Named parameters that a format or an ordering was made with, such as window rows, thresholds and seeds.
// JSON output and bundle attributes contain them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sptile {

/// An integer, a real number or a text; only the member selected by `kind` is valid. Not std::variant: with
/// libstdc++ 12, a copy that runs out of memory is undefined behavior.
struct ParameterValue {
  enum class Kind : std::uint8_t { integer, real, text };

  ParameterValue() = default;
  template <std::integral T>
  ParameterValue(T value) : integer(static_cast<std::int64_t>(value)) {}
  ParameterValue(double value) : kind(Kind::real), real(value) {}
  ParameterValue(std::string value) : kind(Kind::text), text(std::move(value)) {}
  ParameterValue(const char* value) : ParameterValue(std::string(value)) {}

  /// Calls visitor(integer), visitor(real) or visitor(text).
  template <class Visitor>
  auto visit(const Visitor& visitor) const {
    switch (kind) {
      case Kind::real:
        return visitor(real);
      case Kind::text:
        return visitor(text);
      default:
        return visitor(integer);
    }
  }
  friend bool operator==(const ParameterValue&, const ParameterValue&) = default;

  Kind kind = Kind::integer;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
};
/// Named values in display order.
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

}  // namespace sptile
