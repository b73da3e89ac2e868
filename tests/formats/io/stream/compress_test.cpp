#include "formats/io/stream/compress.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <string>

#include "formats/io/stream/output_bytes.hpp"
#include "formats/io/stream/text_stream.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

// Of the compressed and the incompressible kind.
std::string sample(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, 'x');
  for (std::size_t i = 0; i < bytes / 2; ++i) text[i] = static_cast<char>(random());
  return text;
}

std::string read_back(const std::string& path) {
  auto stream = TextStream::open(*InputBytes::open(path));
  REQUIRE(stream.has_value());
  std::string text, block(1 << 16, '\0');
  for (;;) {
    const auto count = stream->read(block);
    REQUIRE(count.has_value());
    if (*count == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(*count));
  }
}

std::string stored(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& text, std::size_t piece) {
  auto output = OutputBytes::create(path, true);
  REQUIRE(output.has_value());
  for (std::size_t at = 0; at < text.size(); at += piece)
    REQUIRE(output->write(std::string_view(text).substr(at, piece)).has_value());
  REQUIRE(output->commit().has_value());
}

}  // namespace

TEST_CASE("what is written compressed is read back, in any pieces, and is always the same bytes") {
  const TemporaryFolder folder;
  for (const char* ending : {".gz", ".xz", ".zst"})
    for (const std::size_t bytes : {0, 1, 65536, 700001}) {
      CAPTURE(ending);
      CAPTURE(bytes);
      const std::string path = folder / ("a" + std::string(ending)), text = sample(bytes, 7);
      write(path, text, 1 << 20);
      const std::string whole = stored(path);
      CHECK(whole != text);
      CHECK(read_back(path) == text);
      write(path, text, 1 << 20);
      CHECK(stored(path) == whole);
      write(path, text, 1000);
      CHECK(read_back(path) == text);
    }
}

TEST_CASE("other names are not compressed") {
  const TemporaryFolder folder;
  CHECK(find_compression("a.mtx") == nullptr);
  CHECK(find_compression("a.gz/b") == nullptr);
  write(folder / "a.mtx", "text", 1);
  CHECK(stored(folder / "a.mtx") == "text");
}
