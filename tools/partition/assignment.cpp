#include "tools/partition/assignment.hpp"

#include <charconv>
#include <utility>

#include "formats/core/quote.hpp"
#include "formats/io/text/text_lines.hpp"
#include "formats/io/text/words.hpp"

namespace sptile::tools {

Result<std::vector<std::int32_t>> read_assignment(const std::string& path, std::int64_t rows,
                                                  std::int32_t parts) {
  auto input = formats::InputBytes::open(path);
  if (!input) return tl::unexpected(std::move(input.error()));
  auto stream = formats::TextStream::open(std::move(*input));
  if (!stream) return tl::unexpected(std::move(stream.error()));
  formats::TextLines lines(std::move(*stream));
  std::vector<std::int32_t> part;
  while (true) {
    const auto line = lines.next();
    if (!line) return tl::unexpected(line.error());
    if (!*line) break;
    const formats::Words words = formats::split_words(**line);
    if (words.count == 0 || words.word[0].front() == '%' || words.word[0].front() == '#') continue;
    const std::string_view word = words.word[0];
    std::int32_t number = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number < 0 || number >= parts)
      return lines.bad(formats::quoted(word) + " is not a part from 0 to " + std::to_string(parts - 1));
    if (words.count > 1) return lines.bad("expected one part number per line");
    if (std::ssize(part) == rows)
      return lines.bad("more part numbers than the " + std::to_string(rows) + " rows of the matrix");
    part.push_back(number);
  }
  if (std::ssize(part) < rows)
    return fail(Errc::bad_input,
                "has " + std::to_string(part.size()) + " part numbers for " + std::to_string(rows) + " rows",
                path);
  return part;
}

}  // namespace sptile::tools
