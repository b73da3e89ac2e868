// Charts of a report, as SVG for an HTML page. Classes are styled in style.cpp.
#pragma once

#include <string>

#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// Draws the number of rows by entries per row, one bar per bin.
std::string length_chart(const Report& report);

/// Draws entries per block by window height, one line per ordering. The best and the given ordering are
/// highlighted.
std::string quality_chart(const Report& report);

}  // namespace sptile::tools::report
