// Text and number formatting of a report.
#pragma once

#include <cstdint>
#include <string>

#include "tools/pipeline/shell_words.hpp"

namespace sptile::tools::report {

/// Returns a number such as "1 234 567", with narrow no-break spaces; numbers below 10 000 have none.
std::string grouped(std::int64_t number);

using tools::shell_word;

}  // namespace sptile::tools::report
