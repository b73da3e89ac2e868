// Formats to measure, by name, some with a parameter: "csr", "tall:64".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/convert/converters.hpp"

namespace sptile::tools {

struct FormatChoice {
  std::string label;  ///< as typed
  const formats::Converter* converter = nullptr;
  int tall_level = -1;  ///< of "tall:H", H = 16 << level rows; -1: what the conversion chooses
};

/// Reads a list with commas, or "all". Errc::usage names what is unknown, and what would do.
Result<std::vector<FormatChoice>> parse_formats(std::string_view list);

/// Converts; see formats::Converter::from_csr.
Result<formats::FormatData> convert_to(const FormatChoice& choice, const formats::CsrView& a,
                                       Progress* progress);

}  // namespace sptile::tools
