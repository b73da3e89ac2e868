// Layout of text in a number of columns: width, shortening, wrapping.
#pragma once

#include <string>
#include <string_view>

namespace sptile::tools {

/// Returns the columns of a text on a terminal: one per UTF-8 character, none for colors.
int display_width(std::string_view text);

/// Removes the middle of a text, as in "a_long...name.mtx", to fit `width` columns. The text must not contain
/// colors.
std::string shorten(std::string_view text, int width);

/// Wraps text at blanks to at most `width` columns. Lines after the first start with `indent` blanks, also
/// after newlines of the text. Words that are too long are split after commas, or exceed the width. The first
/// line has `used` columns less, for text before it.
std::string wrap(std::string_view text, int width, int indent = 0, int used = 0);

/// Returns two blanks, a name, and its description starting at column `column`, with the final newline. The
/// description starts below a longer name, and further left if only a few words would fit.
std::string entry(std::string_view name, std::string_view text, int column, int width);

}  // namespace sptile::tools
