#include "formats/io/text/line_blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace sptile;
using namespace sptile::formats;

namespace {

struct Cut {
  std::string text;  // of all blocks
  std::int64_t blocks = 0;
  std::string error;
};

Cut cut(std::string_view text, std::int64_t block_bytes) {
  Result<TextStream> stream = TextStream::open(InputBytes::from_memory(text, "a.mtx"));
  REQUIRE(stream);
  LineBlocks blocks(*std::move(stream), block_bytes);
  Cut result;
  TextBlock block;
  std::int64_t line = 1;
  for (;;) {
    const Result<bool> more = blocks.next(block);
    if (!more) result.error = more.error().text();
    if (!more || !*more) break;
    CHECK(block.first_line == line);
    CHECK(block.first_byte == static_cast<std::int64_t>(result.text.size()));
    CHECK(block.lines == std::count(block.text.begin(), block.text.end(), '\n'));
    REQUIRE(block.text.ends_with('\n'));
    line += block.lines;
    result.text += block.text;
    ++result.blocks;
  }
  CHECK(blocks.lines() == line - 1);
  return result;
}

}  // namespace

TEST_CASE("lines are counted at any length and position") {
  std::mt19937 random(3);
  std::string text;
  for (int i = 0; i < 20000; ++i) text += random() % 3 == 0 ? '\n' : 'x';
  for (std::size_t begin = 0; begin < 40; ++begin)
    for (const std::size_t length : {0, 1, 15, 16, 17, 31, 32, 33, 255 * 16, 255 * 16 + 17, 19000}) {
      const std::string_view piece = std::string_view(text).substr(begin, length);
      CHECK(count_lines(piece) == std::count(piece.begin(), piece.end(), '\n'));
    }
  const std::string only(100000, '\n');
  CHECK(count_lines(only) == 100000);
}

TEST_CASE("blocks hold whole lines and together the whole text") {
  const std::string text = "one\n\ntwo two two two two two two\n3\n\n";
  for (std::int64_t size = 1; size < 50; ++size) {
    CAPTURE(size);
    CHECK(cut(text, size).text == text);
    CHECK(cut(text + "no end", size).text == text + "no end\n");
  }
  CHECK(cut(text, 1000).blocks == 1);
  CHECK(cut("", 10).blocks == 0);
  CHECK(cut("\n", 10).text == "\n");
}

TEST_CASE("lines lose their ends, whatever they are") {
  std::string_view text = "unix\ndos\r\n\r\nlone\r";
  CHECK(take_line(text) == "unix");
  CHECK(take_line(text) == "dos");
  CHECK(take_line(text).empty());
  CHECK(take_line(text) == "lone");
  CHECK(text.empty());
}

TEST_CASE("a line without end is refused before it fills the memory") {
  const std::string endless =
      "first\n" + std::string(static_cast<std::size_t>(kLongestLine) + (1 << 20), 'x');
  const Cut result = cut(endless, 1 << 20);
  CHECK(result.text == "first\n");
  CHECK(result.error == "a.mtx:2: a line exceeds 64 MiB; expected a Matrix Market file");
}
