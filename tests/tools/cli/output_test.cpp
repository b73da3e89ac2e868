// What is shown of texts that come from files.
#include "tools/cli/output.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "formats/core/printable.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/json.hpp"
#include "tools/plot/svg.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

std::string written(std::string_view text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  REQUIRE(file != nullptr);
  write_text(file.get(), text);
  std::string back(static_cast<std::size_t>(std::ftell(file.get())), '\0');
  std::rewind(file.get());
  CHECK(std::fread(back.data(), 1, back.size(), file.get()) == back.size());
  return back;
}

// Every byte that a terminal may obey, or that is no UTF-8.
const std::string kHostile = "\x1b]0;t\x07\x7f\xff\xc2\x9b\xe2\x80\xae\r\n";
const std::string kShown = R"(\x1b]0;t\x07\u007f\xff\u009b\u202e\x0d)"
                           "\n";

}  // namespace

TEST_CASE("control characters and bytes that are not UTF-8 are shown by their numbers") {
  CHECK(printable(kHostile) == kShown);
  CHECK(written(kHostile) == kShown);
  CHECK(printable("") == "");
  for (const char* const text : {"plain\ttext\n", "\u00e9\u202f\u4e2d\U0001f600", "\\x1b"})
    CHECK(printable(text) == text);
}

TEST_CASE("text that is not UTF-8 is shown byte by byte, whatever follows it") {
  CHECK(printable("\xc3") == R"(\xc3)");
  CHECK(printable("\xc3(") == R"(\xc3()");
  CHECK(printable("\xc0\x9b") == R"(\xc0\x9b)");          // an overlong form
  CHECK(printable("\xed\xa0\x80") == R"(\xed\xa0\x80)");  // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == R"(\xf4\x90\x80\x80)");
  CHECK(printable("\xe2\x80") == R"(\xe2\x80)");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string shown = printable(std::string(1, static_cast<char>(byte)));
    for (const char c : shown) CHECK(((c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'));
  }
}

TEST_CASE("colours are those of paint alone, where the stream has them") {
  const std::string text = styled(Style::bad, "WRONG") + "\x1b[1;35m";
  CHECK(written(text) == R"(WRONG\x1b[1;35m)");
  choose_colours(ColourMode::always);
  CHECK(written(styled(Style::bad, "a\x1b[2J") + "\x1b[1;35m") == "\x1b[1;31ma\\x1b[2J\x1b[0m\\x1b[1;35m");
  choose_colours(ColourMode::never);
}

TEST_CASE("JSON and XML are valid whatever bytes their texts have") {
  const std::string text = json_text({{"name", kHostile}});
  CHECK(printable(text) == text);
  const Json read = Json::parse(text, nullptr, false);
  REQUIRE(read.is_object());
  CHECK(read["name"] == "\x1b]0;t\x07\x7f\ufffd\u009b\u202e\r\n");
  CHECK(plot::xml_escape(kHostile + "<") == R"(\x1b]0;t\x07\u007f\xff\u009b\u202e\x0d?&lt;)");
}
