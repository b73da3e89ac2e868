// Formats to measure, by name, some with a parameter: "csr", "tall:64", "libra_sddmm:16".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/convert/converters.hpp"

namespace sptile::tools {

struct FormatChoice {
  std::string label;  ///< as typed
  const formats::Converter* converter = nullptr;
  /// Converts with a parameter; null: with what the conversion chooses.
  Result<formats::FormatData> (*convert_at)(const formats::CsrView& a, int parameter,
                                            Progress* progress) = nullptr;
  int parameter = 0;
};

/// Reads a list with commas, repeated ones once, or "all". Errc::usage names what is unknown, and what would
/// do.
Result<std::vector<FormatChoice>> parse_formats(std::string_view list);

/// Converts; see formats::Converter::from_csr.
Result<formats::FormatData> convert_to(const FormatChoice& choice, const formats::CsrView& a,
                                       Progress* progress);

}  // namespace sptile::tools
