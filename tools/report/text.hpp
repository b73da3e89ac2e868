// Words and numbers of a report.
#pragma once

#include <cstdint>
#include <string>

namespace sptile::tools::report {

/// "1 234 567", with narrow spaces that do not break; numbers below 10 000 stand as they are.
std::string grouped(std::int64_t number);

/// A word for a POSIX shell: quoted where it needs to be, safe as an operand even if it starts with a dash.
std::string shell_word(const std::string& word);

}  // namespace sptile::tools::report
