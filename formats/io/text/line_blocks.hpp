// Text cut into blocks of whole lines, the unit of parallel parsing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/core/buffer.hpp"
#include "formats/core/error.hpp"
#include "formats/io/stream/text_stream.hpp"

namespace sptile::formats {

/// Some whole lines. The text ends with '\n' (added where the file's last line has none) and at least
/// kTextPadding more bytes may be read behind it.
struct TextBlock {
  Buffer<char> storage;
  std::string_view text;
  std::int64_t first_line = 1;  ///< number of its first line in the file, from 1
  std::int64_t lines = 0;
  std::int64_t first_byte = 0;  ///< position of the text in the file, from 0
};

inline constexpr std::int64_t kTextPadding = 16;

/// Lines longer than this are refused: no file needs them, and an endless one would fill the memory.
inline constexpr std::int64_t kLongestLine = 64 << 20;

/// Counts '\n', at memory speed.
std::int64_t count_lines(std::string_view text);

/// Splits `text` after its first line; returns that line without its end ("\n", "\r\n") and moves `text` past
/// it.
std::string_view take_line(std::string_view& text);

class LineBlocks {
 public:
  /// Blocks hold about `block_bytes` (at least 1), or one line if that is longer.
  LineBlocks(TextStream text, std::int64_t block_bytes) : text_(std::move(text)), block_bytes_(block_bytes) {}

  /// Fills `block`, reusing its storage; false at the end of the text. Trouble with the text is reported
  /// after all whole lines in front of it have been given.
  Result<bool> next(TextBlock& block);

  [[nodiscard]] TextStream& stream() { return text_; }
  [[nodiscard]] const TextStream& stream() const { return text_; }
  [[nodiscard]] std::int64_t lines() const { return next_line_ - 1; }  ///< given out so far

 private:
  std::int64_t fill(std::span<char> room);

  TextStream text_;
  std::int64_t block_bytes_;
  std::string carry_;  // the start of a line whose end is still to be read
  std::int64_t next_line_ = 1;
  std::int64_t next_byte_ = 0;
  bool ended_ = false;
  std::optional<Error> failure_;  // of the text
};

}  // namespace sptile::formats
