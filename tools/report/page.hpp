// A report as one HTML file that needs nothing else: no network, no script.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// Draws the whole page. Names and messages, whatever is in them, stay text. The same report gives the same
/// bytes. Errors as spy::encode_png.
Result<std::string> draw_page(const Report& report);

/// The style sheet of the page.
std::string style();

/// The parts of the page in their order; each is HTML.
std::string head_section(const Report& report);
std::string advice_section(const Report& report);
Result<std::string> picture_section(const Report& report);
std::string length_section(const Report& report);
std::string quality_section(const Report& report);
std::string size_section(const Report& report);
std::string product_section(const Report& report);
std::string command_section(const Report& report);

}  // namespace sptile::tools::report
