#include "tools/partition/assignment.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/temporary_folder.hpp"

using namespace sptile;

namespace {

Result<std::vector<std::int32_t>> read(const std::string& text, std::int64_t rows = 3) {
  const TemporaryFolder folder;
  std::ofstream(folder / "parts.txt") << text;
  auto result = tools::read_assignment(folder / "parts.txt", rows, 4);
  if (!result) result.error().where = result.error().where.substr(folder.path().string().size() + 1);
  return result;
}

void check_bad(const std::string& text, const std::string& complaint) {
  const auto result = read(text);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::bad_input);
  CHECK(result.error().text() == complaint);
}

}  // namespace

TEST_CASE("a file gives the part of each row, comments and blanks apart") {
  const std::vector<std::int32_t> expected = {3, 0, 1};
  CHECK(*read("3\n0\n1\n") == expected);
  CHECK(*read("% parts\n\n 3\r\n0\t\n# last\n1") == expected);
  CHECK(read("", 0)->empty());
}

TEST_CASE("lines that are no part are named") {
  check_bad("0\n4\n1\n", "parts.txt:2: '4' is not a part from 0 to 3");
  check_bad("0\n-1\n1\n", "parts.txt:2: '-1' is not a part from 0 to 3");
  check_bad("0\nx\n1\n", "parts.txt:2: 'x' is not a part from 0 to 3");
  check_bad("0\n1.5\n1\n", "parts.txt:2: '1.5' is not a part from 0 to 3");
  check_bad("99999999999999999999\n", "parts.txt:1: '99999999999999999999' is not a part from 0 to 3");
  check_bad("0 1 2\n", "parts.txt:1: expected one part number per line");
  check_bad("0\n1\n", "parts.txt: has 2 part numbers for 3 rows");
  check_bad("0\n1\n2\n3\n", "parts.txt:4: more part numbers than the 3 rows of the matrix");
}
