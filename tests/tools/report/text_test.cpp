#include "tools/report/text.hpp"

#include <doctest/doctest.h>

using namespace sptile::tools::report;

TEST_CASE("numbers are cut in groups of three from five digits on") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(9999) == "9999");
  CHECK(grouped(10000) == "10\u202f000");
  CHECK(grouped(1234567) == "1\u202f234\u202f567");
  CHECK(grouped(100000) == "100\u202f000");
}

TEST_CASE("a word for a shell is one operand, whatever is in it") {
  CHECK(shell_word("a/b-c_1.mtx") == "a/b-c_1.mtx");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's $(x)") == "'it'\\''s $(x)'");
  CHECK(shell_word("-o.mtx") == "./-o.mtx");
  CHECK(shell_word("-") == "-");
  CHECK(shell_word("a\nb") == "'a\nb'");
}
