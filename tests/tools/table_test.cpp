#include "tools/table.hpp"

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
