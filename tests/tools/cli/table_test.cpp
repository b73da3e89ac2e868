#include "tools/cli/table.hpp"

#include <doctest/doctest.h>

using namespace sptile::tools;

TEST_CASE("columns are as wide as their widest cell, and lines have no trailing blanks") {
  const std::string text =
      format_table({{"name", "count", "note"}, {"a", "10", ""}, {"longer", "7", "x"}}, "lrl");
  CHECK(text ==
        "name    count  note\n"
        "a          10\n"
        "longer      7  x\n");
}

namespace {
const std::vector<std::vector<std::string>> kRows = {
    {"name", "count", "note"},
    {"a", "10", "a note of several words, long enough to be wrapped"},
    {"b", "7", ""}};
}

TEST_CASE("on a terminal the text of the last column is wrapped, and numbers line up") {
  CHECK(format_table(kRows, "lrl", 40) ==
        "name  count  note\n"
        "a        10  a note of several words,\n"
        "             long enough to be wrapped\n"
        "b         7\n");
  CHECK(format_table(kRows, "lrl", 200) == format_table(kRows, "lrl", std::nullopt));
}

TEST_CASE("where there is no room for columns, each row is a paragraph") {
  CHECK(format_table(kRows, "lrl", 30) ==
        "a\n"
        "    count 10, note a note of\n"
        "    several words, long enough\n"
        "    to be wrapped\n"
        "b\n"
        "    count 7\n");
  CHECK(format_table({{"x", "y"}, {"1", "2345678901"}}, "rr", 10) == "1\n    y\n    2345678901\n");
}

TEST_CASE("colours take no columns") {
  CHECK(format_table({{"a", "b"}, {"\033[32mok\033[0m", "x"}}, "ll", std::nullopt) ==
        "a   b\n\033[32mok\033[0m  x\n");
}
