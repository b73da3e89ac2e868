#include "formats/io/graph/metis_graph.hpp"

#include <doctest/doctest.h>

#include <string>

#include "formats/layout/csr.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

Result<ReadMatrix> read(const std::string& text) {
  return read_metis_graph(InputBytes::from_memory(text, "a.graph"));
}

std::string refusal(const std::string& text) {
  const auto a = read(text);
  REQUIRE(!a);
  CHECK(a.error().code == Errc::bad_input);
  return a.error().text();
}

}  // namespace

TEST_CASE("all flags of the header: weights of edges are values, those of vertices are left aside") {
  const Entries path = {{{0, 1}, 1}, {{1, 0}, 1}, {{1, 3}, 1}, {{3, 1}, 1}};
  for (const char* text : {"% c\n4 2\n2\n% c\n1 4\n\n2\n", "4 2 010 2\n9 9 2\n9 9 1 4\n9 9\n9 9 2\n\n",
                           "4 2 100\n7 2\n7 4 1\n7\n7 2\n"}) {
    const auto a = read(text);
    REQUIRE(a);
    CHECK(check_csr(a->csr.view()));
    CHECK(a->csr.view().is_pattern());
    CHECK(entries_of(a->csr.view()) == path);
  }
  CHECK(read("4 2\n2\n1 4\n\n2\n")->notes.empty());
  CHECK(read("2 1 10\n9 2\n9 1\n")->notes.size() == 1);
  CHECK(entries_of(read("2 1 011\n9 2 5\n9 1 5\n")->csr.view()) == Entries{{{0, 1}, 5}, {{1, 0}, 5}});
}

TEST_CASE("what is no graph is refused with its line") {
  CHECK(refusal("") == "a.graph:0: the file ends before its header: vertices, edges");
  CHECK(refusal("2 x\n").starts_with("a.graph:1: the number of edges is 'x'"));
  CHECK(refusal("2 1 2\n") == "a.graph:1: the flags (fmt) are 2; expected digits 0 or 1");
  CHECK(refusal("2 1\n2\n").find("ends after 1 of 2 vertices") != std::string::npos);
  CHECK(refusal("2 1\n2\n1\n1\n").starts_with("a.graph:4: more lines than the 2 vertices"));
  CHECK(refusal("2 1\n3\n1\n").starts_with("a.graph:2: a neighbour is '3'"));
  CHECK(refusal("2 1\n1\n1\n") == "a.graph:2: vertex 1 is adjacent to itself");
  CHECK(refusal("2 2\n2\n1\n").find("2 neighbours are listed") != std::string::npos);
  CHECK(refusal("3 1\n2 3\n\n\n").find("at only one end") != std::string::npos);
  CHECK(refusal("2 1 1\n2\n1 1\n") == "a.graph:2: the line ends before the weight of an edge");
  CHECK(refusal("2 1 1\n2 3\n1 4\n").find("two different weights") != std::string::npos);
  CHECK(refusal("2147483647 1\n2\n1\n").find("2147483647 vertices") != std::string::npos);
}

TEST_CASE("what is written reads back identically; what is no graph is not written") {
  const TemporaryFolder folder;
  const auto write = [&](const char* matrix) {
    const auto a = read_text(matrix, with_dtype(DType::f64));
    REQUIRE(a);
    const Status s = write_metis_graph(a->csr.view(), folder / "a.graph", true);
    if (!s) return s.error().text().substr(s.error().text().find("; ") + 2);
    auto input = InputBytes::open(folder / "a.graph");
    REQUIRE(input);
    const auto back = read_metis_graph(std::move(*input));
    REQUIRE(back);
    CHECK(identical(back->csr.view(), a->csr.view()));
    return std::string();
  };
  CHECK(write("%%MatrixMarket matrix coordinate real symmetric\n4 4 2\n2 1 3\n4 1 12\n") == "");
  CHECK(write("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1\n") == "");
  CHECK(write("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n") ==
        "the matrix is not square");
  CHECK(write("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n") == "the matrix is not");
  CHECK(write("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2\n") ==
        "entry (2, 2) is on the diagonal");
  CHECK(write("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 0.5\n") ==
        "entry (1, 2) is 0.500000");
}
