// Quotation of file contents in messages.
#pragma once

#include <string>
#include <string_view>

namespace sptile::formats {

/// Returns the text in quotes, with control and non-ASCII bytes as \xNN, truncated to about 40 characters.
std::string quoted(std::string_view text);

}  // namespace sptile::formats
