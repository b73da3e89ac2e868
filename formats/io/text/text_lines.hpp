// Text read line by line, for readers that are not performance-critical.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/io/text/line_blocks.hpp"

namespace sptile::formats {

class TextLines {
 public:
  explicit TextLines(TextStream text) : blocks_(std::move(text), 256 << 10) {}

  /// Opens compressed or plain text and hashes its stored bytes. Errors as in TextStream.
  static Result<TextLines> open(InputBytes input) {
    input.start_hash();
    auto stream = TextStream::open(std::move(input));
    if (!stream) return tl::unexpected(std::move(stream.error()));
    return TextLines(std::move(*stream));
  }

  /// Returns the next line without its end; nothing at the end of the text. Errors as in LineBlocks.
  Result<std::optional<std::string_view>> next() {
    if (block_.text.empty()) {
      const Result<bool> more = blocks_.next(block_);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return std::nullopt;
      number_ = block_.first_line - 1;
    }
    ++number_;
    return take_line(block_.text);
  }

  [[nodiscard]] InputBytes& input() { return blocks_.stream().input(); }
  [[nodiscard]] std::string name() const { return blocks_.stream().name(); }  ///< for messages
  [[nodiscard]] std::int64_t number() const { return number_; }  ///< number of the last line read
  [[nodiscard]] tl::unexpected<Error> bad(std::string message) {
    return fail(Errc::bad_input, std::move(message), name() + ":" + std::to_string(number_));
  }

 private:
  LineBlocks blocks_;
  TextBlock block_;
  std::int64_t number_ = 0;
};

}  // namespace sptile::formats
