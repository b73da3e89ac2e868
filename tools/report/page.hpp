// A report as a self-contained HTML file without network access or scripts.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// Renders the page. Names and messages are escaped. Equal reports give equal bytes. Errors as for
/// spy::encode_png.
Result<std::string> draw_page(const Report& report);

/// Returns the style sheet of the page.
std::string style();

/// Sections of the page in order, as HTML.
std::string head_section(const Report& report);
std::string advice_section(const Report& report);
Result<std::string> picture_section(const Report& report);
std::string length_section(const Report& report);
std::string quality_section(const Report& report);
std::string size_section(const Report& report);
std::string product_section(const Report& report);
std::string command_section(const Report& report);

}  // namespace sptile::tools::report
