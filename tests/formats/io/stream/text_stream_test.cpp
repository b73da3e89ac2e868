#include "formats/io/stream/text_stream.hpp"

#include <bzlib.h>
#include <doctest/doctest.h>
#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/formats/io/gzip.hpp"

using namespace sptile;
using namespace sptile::formats;
using test::gzip;

namespace {

std::string xz(const std::string& text) {
  std::string out(::lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  REQUIRE(::lzma_easy_buffer_encode(
              1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
              reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) == LZMA_OK);
  out.resize(size);
  return out;
}

std::string bzip2(const std::string& text) {
  std::string out(text.size() + text.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(out.size());
  REQUIRE(::BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(text.data()),
                                     static_cast<unsigned>(text.size()), 1, 0, 0) == BZ_OK);
  out.resize(size);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(::ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ::ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  REQUIRE(::ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

// Longer than every buffer on the way, and not easy to compress.
std::string long_text() {
  std::mt19937 random(4);
  std::string text;
  while (text.size() < (3 << 20)) text += std::to_string(random()) + "\n";
  return text;
}

struct Compressor {
  const char* name;
  std::string (*encode)(const std::string&);
};
const std::vector<Compressor> kCompressors{{"gzip", gzip}, {"bzip2", bzip2}, {"xz", xz}, {"zstd", zstd}};

struct Text {
  std::string text, error;
};

Text read(const std::string& stored, std::size_t step) {
  Result<TextStream> stream = TextStream::open(InputBytes::from_memory(stored, "a"));
  REQUIRE(stream);
  Text result;
  std::string room(step, '\0');
  for (;;) {
    const Result<std::int64_t> count = stream->read(room);
    if (!count) result.error = count.error().text();
    if (!count || *count == 0) return result;
    result.text.append(room, 0, static_cast<std::size_t>(*count));
  }
}

}  // namespace

TEST_CASE("plain text passes unchanged, also when it is shorter than a magic") {
  for (const std::string text : {"", "a", "abc", "abcdef", "abcdefg", "\x1f", "BZh"})
    for (const std::size_t step : {1U, 2U, 100U}) CHECK(read(text, step).text == text);
}

TEST_CASE("compressed text is found by its first bytes and decoded, one stream or several") {
  const std::string text = long_text();
  for (const Compressor& codec : kCompressors) {
    CAPTURE(codec.name);
    const std::string whole = codec.encode(text);
    CHECK(read(whole, 1 << 16).text == text);
    CHECK(read(whole, 1000003).error.empty());
    CHECK(read(codec.encode("") + codec.encode("tail"), 7).text == "tail");
    CHECK(read(whole + codec.encode("tail"), 1 << 16).text == text + "tail");
  }
}

TEST_CASE("the size of plain text is known, that of compressed text is not") {
  const std::string text = "1 2 3\n";
  CHECK(TextStream::open(InputBytes::from_memory(text, "a"))->size() == 6);
  const std::string stored = gzip(text);
  CHECK(!TextStream::open(InputBytes::from_memory(stored, "a"))->size().has_value());
}

TEST_CASE("a cut anywhere is noticed") {
  const std::string text = "some text that is compressed, some text that is cut off\n";
  for (const Compressor& codec : kCompressors) {
    CAPTURE(codec.name);
    const std::string whole = codec.encode(text);
    for (std::size_t length = kLongestMagic; length < whole.size(); ++length) {
      const Text result = read(whole.substr(0, length), 100);
      CHECK(result.error == "a: the " + std::string(codec.name) + " data is truncated; copy the file again");
      CHECK(text.starts_with(result.text));
    }
  }
}

TEST_CASE("a changed byte is an error or changes nothing, and what follows the data is refused") {
  const std::string text = "some text that is compressed, some text that is changed\n";
  for (const Compressor& codec : kCompressors) {
    CAPTURE(codec.name);
    const std::string whole = codec.encode(text);
    if (codec.name != std::string("zstd"))  // its simple encoder writes no checksum
      for (std::size_t at = kLongestMagic; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        const Text result = read(changed, 100);
        CHECK((!result.error.empty() || result.text == text));
      }
    CHECK(read(whole + "junk junk junk", 100).error.find("corrupt " + std::string(codec.name)) !=
          std::string::npos);
  }
}

TEST_CASE("zeros after the last stream are padding, anything else is refused") {
  const std::string text = "text\n";
  for (const Compressor& codec : kCompressors) {
    CAPTURE(codec.name);
    const std::string whole = codec.encode(text);
    for (const std::size_t zeros : {4U, 512U, 300000U}) {
      CHECK(read(whole + std::string(zeros, '\0'), 100).text == text);
      CHECK(read(whole + std::string(zeros, '\0'), 100).error.empty());
      const Text more = read(whole + std::string(zeros, '\0') + codec.encode(text), 100);
      CHECK(more.error.empty());
      CHECK(more.text == text + text);
      CHECK(!read(whole + std::string(zeros, '\0') + "junk junk junk", 100).error.empty());
    }
  }
}

TEST_CASE("zstd: windows above the default of the library are read, and frames to skip") {
  const std::string text = long_text();
  const std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> context(::ZSTD_createCCtx(), ::ZSTD_freeCCtx);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, 28);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);
  std::string stored(::ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer from{text.data(), text.size(), 0};
  ZSTD_outBuffer to{stored.data(), stored.size(), 0};
  std::size_t left = 0;
  for (const ZSTD_EndDirective step : {ZSTD_e_flush, ZSTD_e_end})  // the size is not known beforehand
    left = ::ZSTD_compressStream2(context.get(), &to, &from, step);
  REQUIRE(left == 0);
  stored.resize(to.pos);
  CHECK(read(stored, 1 << 16).text == text);
  const std::string skipped = std::string("\x50\x2a\x4d\x18\x04\0\0\0four", 12);
  CHECK(read(skipped + zstd("tail"), 100).text == "tail");
  CHECK(read(skipped.substr(0, 10), 100).error == "a: the zstd data is truncated; copy the file again");
}

TEST_CASE("data in other compressed formats are refused by name") {
  for (const std::string head : {"\x1f\x9d", "\x5d\0\0", "LZIP", "\x04\x22\x4d\x18", "7z\xbc\xaf\x27\x1c"}) {
    const std::string stored = (head == "\x5d" ? std::string("\x5d\0\0", 3) : head) + "rest of it";
    const auto stream = TextStream::open(InputBytes::from_memory(stored, "a"));
    REQUIRE(!stream);
    CHECK(stream.error().code == Errc::unsupported);
    CHECK(stream.error().text().starts_with("a: compressed by "));
  }
}
