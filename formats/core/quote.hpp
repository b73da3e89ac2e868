// How messages show a piece of somebody else's file.
#pragma once

#include <string>
#include <string_view>

namespace sptile::formats {

/// Puts text in quotes, control and non-ASCII bytes as \xNN, cut after about 40 characters.
std::string quoted(std::string_view text);

}  // namespace sptile::formats
