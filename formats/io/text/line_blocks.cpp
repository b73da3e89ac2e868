#include "formats/io/text/line_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sptile::formats {
namespace {

// Allocates space for `bytes` bytes of text and copies the first `kept` bytes of the old buffer.
void grow(Buffer<char>& storage, std::int64_t bytes, std::int64_t kept) {
  if (storage.size() >= bytes + kTextPadding + 1) return;  // + 1: the last line may lack its '\n'
  Buffer<char> larger(bytes + kTextPadding + 1);
  std::copy_n(storage.data(), kept, larger.data());
  storage = std::move(larger);
}

}  // namespace

std::int64_t count_lines(std::string_view text) {
  using Bytes [[gnu::vector_size(16)]] =
      std::uint8_t;  // a width that every target has; wider vectors are emulated
  constexpr std::size_t kWidth = sizeof(Bytes);
  std::int64_t lines = 0;
  const char* p = text.data();
  std::size_t left = text.size();
  while (left >= kWidth) {
    Bytes counts{};  // one counter per lane, added up before it can overflow
    for (int round = 0; round < 255 && left >= kWidth; ++round, p += kWidth, left -= kWidth) {
      Bytes chunk;
      std::memcpy(&chunk, p, kWidth);
      counts -= static_cast<Bytes>(chunk == '\n');  // true is all ones, -1
    }
    std::array<std::uint8_t, kWidth> lanes{};
    std::memcpy(lanes.data(), &counts, kWidth);
    for (const std::uint8_t lane : lanes) lines += lane;
  }
  return lines + std::count(p, p + left, '\n');
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Reads until `free_space` is used up, the text ends or reading fails.
std::int64_t LineBlocks::fill(std::span<char> free_space) {
  std::int64_t filled = 0;
  while (!free_space.empty() && !ended_ && !failure_) {
    const Result<std::int64_t> count = text_.read(free_space);
    if (!count) {
      failure_ = count.error();
    } else {
      ended_ = *count == 0;
      filled += *count;
      free_space = free_space.subspan(static_cast<std::size_t>(*count));
    }
  }
  return filled;
}

Result<bool> LineBlocks::next(TextBlock& block) {
  auto filled = static_cast<std::int64_t>(carry_.size());
  std::int64_t window = std::max(block_bytes_, filled + 1);
  grow(block.storage, window, 0);
  std::copy(carry_.begin(), carry_.end(), block.storage.data());

  std::int64_t cut = 0;  // position after the last '\n' in the window
  while (cut == 0) {
    filled += fill(block.storage.span().subspan(static_cast<std::size_t>(filled),
                                                static_cast<std::size_t>(window - filled)));
    if (ended_ && filled == 0) return false;
    const std::string_view text(block.storage.data(), static_cast<std::size_t>(filled));
    cut = static_cast<std::int64_t>(text.rfind('\n') + 1);  // npos + 1 == 0
    if (cut == 0 && failure_) return tl::unexpected(*failure_);
    if (cut == 0 && filled > kLongestLine)
      return fail(Errc::bad_input, "a line exceeds 64 MiB; expected a Matrix Market file",
                  text_.name() + ":" + std::to_string(next_line_));
    if (cut == 0 && ended_) block.storage[filled] = '\n', cut = ++filled;
    if (cut == 0) grow(block.storage, window *= 2, filled);
  }

  carry_.assign(block.storage.data() + cut, static_cast<std::size_t>(filled - cut));
  std::fill_n(block.storage.data() + cut, kTextPadding, '\0');
  block.text = {block.storage.data(), static_cast<std::size_t>(cut)};
  block.first_line = next_line_;
  block.first_byte = next_byte_;
  block.lines = count_lines(block.text);
  next_line_ += block.lines;
  next_byte_ += cut;
  return true;
}

}  // namespace sptile::formats
