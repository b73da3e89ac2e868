// Text that has to fit a number of columns: how wide it is, cut in its middle, wrapped.
#pragma once

#include <string>
#include <string_view>

namespace sptile::tools {

/// Columns that a text takes on a terminal: a character of UTF-8 counts as one, colours count nothing.
int display_width(std::string_view text);

/// Takes out the middle of a text, "a_long...name.mtx", so that it takes `width` columns at most. The text
/// holds no colours.
std::string shorten(std::string_view text, int width);

/// Breaks lines at blanks so that none takes more than `width` columns; what follows the first starts with
/// `indent` blanks, and so do lines behind a break of the text's own. Words that are too long by themselves
/// break behind their commas, or stand alone as they are. The first line has `used` columns less: something
/// stands before it already.
std::string wrap(std::string_view text, int width, int indent = 0, int used = 0);

/// Two blanks, a name, and a text about it that starts in column `column`, with the end of its last line:
/// below the name where that is longer, and there further left where less than a few words would fit.
std::string entry(std::string_view name, std::string_view text, int column, int width);

}  // namespace sptile::tools
