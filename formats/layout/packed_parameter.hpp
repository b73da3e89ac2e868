// Format parameters that pack several settings into one integer, written "tau_nnz=3,rule=none".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// One setting of a packed parameter. Codes 0 to names.size() - 1 are the names, the following ones the
/// numbers from `min` on. Code 0 is the default.
struct ParameterField {
  std::string_view name;     ///< "tau_nnz"
  std::string_view summary;  ///< one line
  int shift, bits;           ///< position of the code in the parameter
  std::span<const std::string_view> names;
  int min = 0;

  [[nodiscard]] constexpr int codes() const { return 1 << bits; }
  /// Returns the largest number; less than `min` if the field has only names.
  [[nodiscard]] constexpr int max() const { return min + codes() - 1 - static_cast<int>(names.size()); }
  [[nodiscard]] constexpr int code(int parameter) const { return parameter >> shift & (codes() - 1); }
  /// Returns the parameter with this code of the field.
  [[nodiscard]] constexpr int with_code(int parameter, int code) const {
    return (parameter & ~((codes() - 1) << shift)) | code << shift;
  }
  [[nodiscard]] constexpr bool is_number(int parameter) const {
    return code(parameter) >= static_cast<int>(names.size());
  }
  /// Returns the number of a parameter with is_number().
  [[nodiscard]] constexpr int number(int parameter) const {
    return min + code(parameter) - static_cast<int>(names.size());
  }
};

/// Returns the fields of the format's parameter; empty if it is a single number.
std::span<const ParameterField> fields_of(const FormatLayout& layout);

/// Lists the accepted values of a field: "auto, none or 1 to 9".
std::string field_values_text(const ParameterField& field);

/// Returns the fields that differ from their defaults: "tau_nnz=3,rule=none". A default parameter returns the
/// first field.
std::string fields_text(std::span<const ParameterField> fields, int parameter);

/// Parses "NAME=VALUE,NAME=VALUE". Errc::usage names the format, the text and the accepted values; a field
/// may occur once.
Result<int> parse_fields(const FormatLayout& layout, std::string_view text);

}  // namespace sptile::formats
