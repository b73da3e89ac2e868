#include "tools/cli/text_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

using namespace sptile::tools;

TEST_CASE("a character of UTF-8 takes one column, a colour none") {
  CHECK(display_width("") == 0);
  CHECK(display_width("plain") == 5);
  CHECK(display_width("na\u00efve \u2713") == 7);
  CHECK(display_width("\033[1;31mred\033[0m") == 3);
  CHECK(display_width("\033[") == 2);  // no colour: it does not end
}

TEST_CASE("what is too long loses its middle, never half a character") {
  CHECK(shorten("short", 5) == "short");
  CHECK(shorten("a_long_name.mtx", 11) == "a_lo....mtx");
  CHECK(shorten("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 7) ==
        "\u00e4\u00f6...\u00f6\u00fc");
  CHECK(shorten("abcdef", 4) == "abcd");  // no room for dots
  CHECK(shorten("abcdef", 0).empty());
  CHECK(shorten("abcdef", -1).empty());
}

TEST_CASE("lines break at blanks and of themselves, with what follows indented") {
  CHECK(wrap("one two three", 80) == "one two three");
  CHECK(wrap("one two three", 7) == "one two\nthree");
  CHECK(wrap("one two three", 9, 2) == "one two\n  three");
  CHECK(wrap("one two", 9, 4, 5) == "one\n    two");
  CHECK(wrap("one\ntwo", 80, 2) == "one\n  two");
  CHECK(wrap("  one   two ", 80) == "one two");
  CHECK(wrap("", 80, 2).empty());
}

TEST_CASE("a word that is too long stands alone, and no line has blanks at its end") {
  CHECK(wrap("a incomprehensibilities b", 10, 2) == "a\n  incomprehensibilities\n  b");
  CHECK(wrap("incomprehensibilities", 10) == "incomprehensibilities");
  CHECK(wrap("{one,two,three,four} x", 10, 2) == "{one,\n  two,\n  three,\n  four} x");
  for (int width = 1; width < 30; ++width) {
    std::istringstream lines(wrap("some words of an ordinary length, wrapped", width, 3));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK_FALSE(line.ends_with(' '));
      CHECK((display_width(line) <= width || std::count(line.begin() + 3, line.end(), ' ') == 0));
    }
  }
}

TEST_CASE("a text stands beside its name, or below it") {
  CHECK(entry("name", "what it is", 10, 80) == "  name    what it is\n");
  CHECK(entry("name", "", 10, 80) == "  name\n");
  CHECK(entry("a_long_name", "what it is", 10, 80) == "  a_long_name\n          what it is\n");
  CHECK(entry("name", "what it is, in a few words", 10, 30) ==
        "  name    what it is, in a few\n          words\n");
  CHECK(entry("name", "what it is", 20, 30) == "  name\n      what it is\n");  // too narrow for two columns
}
