// Splits text into blocks of complete lines, the unit of parallel parsing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/core/buffer.hpp"
#include "formats/core/error.hpp"
#include "formats/io/stream/text_stream.hpp"

namespace sptile::formats {

/// A block of complete lines. The text ends with '\n' (appended if the file's last line has none), and at
/// least kTextPadding more bytes after it are readable.
struct TextBlock {
  Buffer<char> storage;
  std::string_view text;
  std::int64_t first_line = 1;  ///< 1-based line number of the first line in the file
  std::int64_t lines = 0;
  std::int64_t first_byte = 0;  ///< 0-based position of the text in the file
};

inline constexpr std::int64_t kTextPadding = 16;

/// Longer lines are rejected: valid files do not have them, and an endless line would fill the memory.
inline constexpr std::int64_t kLongestLine = 64 << 20;

/// Counts '\n' at memory speed.
std::int64_t count_lines(std::string_view text);

/// Removes the first line from `text` and returns it without its end ("\n" or "\r\n").
std::string_view take_line(std::string_view& text);

class LineBlocks {
 public:
  /// Blocks have about `block_bytes` bytes (at least 1), or one line if it is longer.
  LineBlocks(TextStream text, std::int64_t block_bytes) : text_(std::move(text)), block_bytes_(block_bytes) {}

  /// Fills `block`, reusing its storage; returns false at the end of the text. Errors of the text are
  /// reported after all complete lines before them.
  Result<bool> next(TextBlock& block);

  [[nodiscard]] TextStream& stream() { return text_; }
  [[nodiscard]] const TextStream& stream() const { return text_; }
  [[nodiscard]] std::int64_t lines() const { return next_line_ - 1; }  ///< lines returned so far

 private:
  std::int64_t fill(std::span<char> free_space);

  TextStream text_;
  std::int64_t block_bytes_;
  std::string carry_;  // start of an incomplete line
  std::int64_t next_line_ = 1;
  std::int64_t next_byte_ = 0;
  bool ended_ = false;
  std::optional<Error> failure_;  // error of the text
};

}  // namespace sptile::formats
