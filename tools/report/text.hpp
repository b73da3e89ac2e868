// Words and numbers of a report.
#pragma once

#include <cstdint>
#include <string>

#include "tools/pipeline/shell_words.hpp"

namespace sptile::tools::report {

/// "1 234 567", with narrow spaces that do not break; numbers below 10 000 stand as they are.
std::string grouped(std::int64_t number);

using tools::shell_word;

}  // namespace sptile::tools::report
