// The charts of a report, as SVG for an HTML page. Classes are styled in style.cpp.
#pragma once

#include <string>

#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// Rows by their number of entries: a bar for each bin.
std::string length_chart(const Report& report);

/// Entries a block by window height: a line for each ordering, the best and the given one stand out.
std::string quality_chart(const Report& report);

}  // namespace sptile::tools::report
