#include "formats/io/edge_list.hpp"

#include <doctest/doctest.h>

#include <string>

#include "formats/layout/csr.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

Result<ReadMatrix> read(const std::string& text, const EdgeListOptions& options = {}) {
  return read_edge_list(InputBytes::from_memory(text, "a.txt"), options);
}

std::string refusal(const std::string& text, const EdgeListOptions& options = {}) {
  const auto a = read(text, options);
  REQUIRE(!a);
  CHECK(a.error().code == Errc::bad_input);
  return a.error().text();
}

}  // namespace

TEST_CASE("separator and base are found out, and said") {
  const Entries from_0 = {{{0, 1}, 1}, {{2, 0}, 1}};
  for (const char* text : {"0 1\n2 0\n", "0\t1\n2\t0\n", "1,2\r\n3,1", "% c\n// c\n# c\n\n  1 ; 2\n3;1\n",
                           "from,to\n1,2\n3,1\n"}) {
    const auto a = read(text);
    REQUIRE(a);
    CHECK(check_csr(a->csr.view()));
    CHECK(a->csr.rows == 3);
    CHECK(a->csr.view().is_pattern());
    CHECK(entries_of(a->csr.view()) == from_0);
  }
  CHECK(read("1,2\n3,1\n")->notes.front() ==
        "an edge list parted by commas, vertices from 1 (no vertex 0 is named), without weights; --base and "
        "--separator say otherwise");
  CHECK(read("1,2\n3,1\n", {0, 0})->csr.rows == 4);
  CHECK(read("")->csr.rows == 0);
}

TEST_CASE("weights are values, and edges that come twice are summed") {
  const auto a = read("0 1 0.5\n1 0 -2\n0 1 0.25\n");
  REQUIRE(a);
  CHECK(a->duplicates == 1);
  CHECK(entries_of(a->csr.view()) == Entries{{{0, 1}, 0.75}, {{1, 0}, -2}});
}

TEST_CASE("what is no edge is refused with its line") {
  CHECK(refusal("0 1\n2\n") == "a.txt:2: one field in the line; an edge is: from, to, perhaps a weight");
  CHECK(refusal("0 1 2 3\n").starts_with("a.txt:1: more than three fields"));
  CHECK(refusal("0 1\n0 x\n") == "a.txt:2: vertex 'x' is no whole number from 0 to 2147483647");
  CHECK(refusal("0 1\n0 2147483648\n").starts_with("a.txt:2: vertex '2147483648'"));
  CHECK(refusal("-1 1\n").starts_with("a.txt:1: vertex '-1'"));
  CHECK(refusal("0 1\n", {1, 0}).starts_with("a.txt:1: vertex '0' is no whole number from 1"));
  CHECK(refusal("0 1\n0 2 1.5\n") == "a.txt:2: a weight, but the edges before have none");
  CHECK(refusal("0 1 1\n0 2\n") == "a.txt:2: no weight, but the edges before have one");
  CHECK(refusal("0 1 1\n0 2 z\n") == "a.txt:2: weight 'z' is no number");
  CHECK(refusal("# 2 x 2, base 0\n0 1\n1 2\n").starts_with("a.txt: edge 2 has vertex 2"));
}

TEST_CASE("what is written reads back identically, whatever parts it") {
  const TemporaryFolder folder;
  for (const char* matrix :
       {"%%MatrixMarket matrix coordinate real general\n3 5 3\n1 4 0.1\n2 1 -2\n2 2 1e300\n",
        "%%MatrixMarket matrix coordinate pattern general\n4 2 1\n2 2\n"})
    for (const char* name : {"a.edges", "a.csv", "a.tsv.gz", "a.txt.zst"}) {
      const auto a = read_text(matrix, with_dtype(DType::f64));
      REQUIRE(a);
      REQUIRE(write_edge_list(a->csr.view(), folder / name, true));
      auto input = InputBytes::open(folder / name);
      REQUIRE(input);
      const auto back = read_edge_list(std::move(*input), {});
      REQUIRE(back);
      CHECK(identical(back->csr.view(), a->csr.view()));
    }
}
