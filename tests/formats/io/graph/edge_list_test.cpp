#include "formats/io/graph/edge_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

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
        "an edge list separated by commas, vertices from 1 (vertex 0 does not occur), without weights; "
        "--base and --separator override this");
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
  CHECK(refusal("0 1\n2\n") ==
        "a.txt:2: a line with one field; expected source, target and an optional weight");
  CHECK(refusal("0 1 2 3\n").starts_with("a.txt:1: more than three fields"));
  CHECK(refusal("0 1\n0 x\n") == "a.txt:2: vertex 'x' is not an integer from 0 to 2147483647");
  CHECK(refusal("-1 1\n").starts_with("a.txt:1: vertex '-1'"));
  CHECK(refusal("0 1\n", {1, 0}).starts_with("a.txt:1: vertex '0' is not an integer from 1"));
  CHECK(refusal("0 1\n0 2 1.5\n") == "a.txt:2: unexpected weight; the preceding edges have none");
  CHECK(refusal("0 1 1\n0 2\n") == "a.txt:2: missing weight; the preceding edges have one");
  CHECK(refusal("0 1 1\n0 2 z\n") == "a.txt:2: weight 'z' is not a number");
  CHECK(refusal("# 2 x 2, base 0\n0 1\n1 2\n").starts_with("a.txt: edge 2 has vertex 2"));
}

TEST_CASE("ids beyond 2^31 - 1 are unsupported, not damaged") {
  for (const char* text : {"0 1\n0 2147483648\n", "0 1\n5000000000 1\n", "0 1\n0 99999999999999999999\n",
                           "0 1\n0 3e9\n", "0 2147483647\n"}) {
    const auto a = read(text);
    REQUIRE(!a);
    CHECK(a.error().code == Errc::unsupported);
  }
}

namespace {

bool has_note(const ReadMatrix& a, std::string_view part) {
  return std::any_of(a.notes.begin(), a.notes.end(),
                     [=](const std::string& note) { return note.find(part) != note.npos; });
}

const Entries kPath = {{{0, 1}, 1}, {{1, 2}, 1}};        // 0 -> 1 -> 2
const Entries kWeighted = {{{0, 1}, 5}, {{1, 2}, 7.5}};  // the same with weights

}  // namespace

TEST_CASE("lists of other programs are read for what they say") {
  struct Case {
    std::string text;
    const char* note;  // a part of one; "" for none
    const Entries& edges;
  };
  const Case cases[] = {
      // Byte order marks, ends of lines and white space.
      {"\xEF\xBB\xBF"
       "0 1\n1 2\n",
       "", kPath},
      {"\xEF\xBB\xBFsource,target\r\n0,1\r\n1,2\r\n", "", kPath},
      {"0 1\r1 2\r", "", kPath},
      {"0 1\r\r\n1 2\r\r\n", "", kPath},
      {"\t0\t\t1 \n 1\v2\f\n", "", kPath},
      // Headings.
      {"weight,source,target\n5,0,1\n7.5,1,2\n", "", kWeighted},
      {"Target;Weight;Source\n1;5;0\n2;7.5;1\n", "", kWeighted},
      {"id,src,dst\n0,0,1\n1,1,2\n", "ignored columns: 'id'", kPath},
      {"src,dst,time\n0,1,1082040961\n1,2,1082155839\n", "ignored columns: 'time'", kPath},
      {"Source,Target,Type,Id,Label,Weight\n0,1,Directed,0,,5\n1,2,Directed,1,,7.5\n",
       "ignored columns: 'Type', 'Id', 'Label'", kWeighted},
      {"user,item,rating,timestamp\n0,1,5,9\n1,2,7.5,8\n", "'user' as sources, 'item' as targets", kWeighted},
      {"From Node\tTo Node\n0\t1\n1\t2\n", "", kPath},
      {"# weight source target\n5 0 1\n7.5 1 2\n", "", kWeighted},
      {"# FromNodeId\tToNodeId\n0\t1\n1\t2\n", "", kPath},
      // Row names of pandas and R.
      {",source,target\n0,0,1\n1,1,2\n", "ignored columns: (no name)", kPath},
      {"Unnamed: 0,source,target,weight\n0,0,1,5\n1,1,2,7.5\n", "ignored columns: 'Unnamed: 0'", kWeighted},
      {"\"\",\"from\",\"to\"\n\"1\",0,1\n\"2\",1,2\n", "ignored columns: (no name)", kPath},
      {"\"from\" \"to\"\n\"1\" 0 1\n\"2\" 1 2\n", "ignored columns: (no name)", kPath},
      {",0,1\n0,0,1\n1,1,2\n", "line 1 is read as a heading", kPath},
      // Quotes and numbers.
      {"\"0\",\"1\"\n\"1\",\"2\"\n", "", kPath},
      {"'0' '1' '5'\n'1' '2' '7.5'\n", "", kWeighted},
      {"0.000e+00 1.000e+00\n1.000e+00 2.000e+00\n", "", kPath},
      {"0.0,1.0,5.0\n1.0,2.0,7.5\n", "", kWeighted},
      // networkx.
      {"0 1 {}\n1 2 {}\n", "", kPath},
      {"0 1 {'weight': 5}\n1 2 {'color': 'a, {b}', 'weight': 7.5}\n", "ignored attributes: 'color'",
       kWeighted},
      {"0,1,{'weight': np.float64(5.0)}\n1,2,{'weight': np.float64(7.5)}\n", "", kWeighted},
      // KONECT.
      {"% asym unweighted\n% 2 3 3\n1 2\n2 3\n", "", kPath},
      {"% asym positive\n% 2 3 3\n1 2 5 1082040961\n2 3 7.5 1082155839\n", "time stamps", kWeighted},
      {"% sym weighted\n1 2\t5\n2 3\t7.5\n", "undirected", kWeighted},
      {"% asym unweighted\n% 3 3 3\n1 2\n2 3\n", "declares 3 edges, but the file has 2", kPath},
      // Counts.
      {"3 2\n1 2\n2 3\n", "line 1, '3 2', is read as counts", kPath},
      {"3 2\n0 1 5\n1 2 7.5\n", "is read as counts", kWeighted},
      {"3 3 2\n1 2 5\n2 3 7.5\n", "is read as counts", kWeighted},
      {"3 3 2\n1 2\n2 3\n", "is read as counts", kPath},
      // Time stamps.
      {"0 1 1082040961\n1 2 1082155839\n", "the third column, which has time stamps", kPath},
      {"0 1 1082040961000\n1 2 1082155839000\n", "the third column, which has time stamps", kPath},
      {"0 1 5 1082040961\n1 2 7.5 1082155839\n", "the fourth column, which has time stamps", kWeighted},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const auto a = read(c.text);
    if (!a) CAPTURE(a.error().text());
    REQUIRE(a);
    CHECK(check_csr(a->csr.view()));
    CHECK(a->csr.rows == 3);
    CHECK(a->csr.cols == 3);
    CHECK(entries_of(a->csr.view()) == c.edges);
    // Without one nothing is said but how vertices are counted.
    CHECK((*c.note == 0 ? a->notes.size() <= 1 : has_note(*a, c.note)));
  }
}

TEST_CASE("what may be something else is read as an edge, with a note") {
  const auto times = read("0 1 1082155839\n1 2 1082040961\n");
  REQUIRE(times);
  CHECK(entries_of(times->csr.view()) == Entries{{{0, 1}, 1082155839}, {{1, 2}, 1082040961}});
  CHECK(has_note(*times, "looks like time stamps"));
  const auto seconds = read("0 1 0\n1 2 17797\n2 0 69459254\n");
  REQUIRE(seconds);
  CHECK(has_note(*seconds, "looks like time stamps"));
  CHECK(!has_note(*read("0 1 1\n1 2 2\n2 0 3\n"), "time stamps"));
  const auto index = read("0,3,4\n1,4,5\n2,0,3\n");
  REQUIRE(index);
  CHECK(has_note(*index, "first column looks like line numbers"));
  CHECK(!has_note(*read("0,1,4\n1,2,5\n2,3,3\n"), "first column"));  // a path
  for (const char* text :
       {"4 6\n1 2\n2 3\n3 4\n", "4 5\n1 2\n2 3\n3 4\n", "3 4\n1 2\n2 3\n3 4\n", "2 1\n1 2\n"})
    CHECK(has_note(*read(text), "is read as an edge"));
}

TEST_CASE("edges are not taken for counts") {
  CHECK(read("# 4 x 4, base 0\n3 2\n0 1\n1 2\n")->csr.nnz() == 3);
  CHECK(read("source target\n3 2\n0 1\n1 2\n")->csr.nnz() == 3);
  CHECK(read("3 2\n0 1\n1 2\n", {-1, 0, "source,target"})->csr.nnz() == 3);
  CHECK(read("3 2\n0 1\n1 3\n")->csr.nnz() == 3);  // vertex 3 of 3, from 0
  CHECK(read("3 1\n0 1\n1 2\n")->csr.nnz() == 3);
}

TEST_CASE("columns that are named are read, whatever the heading says") {
  CHECK(entries_of(read("5 0 1\n7.5 1 2\n", {-1, 0, "weight,source,target"})->csr.view()) == kWeighted);
  CHECK(entries_of(read("a,b,c\n9,1,0\n9,2,1\n", {-1, 0, "-,target,source"})->csr.view()) == kPath);
  CHECK(entries_of(read("0 1 1082040961\n", {-1, 0, "source,target,weight"})->csr.view()) ==
        Entries{{{0, 1}, 1082040961}});
  for (const char* columns : {"source", "source,weight", "source,target,sink", "source,target,source", ","}) {
    const auto a = read("0 1\n", {-1, 0, columns});
    REQUIRE(!a);
    CHECK(a.error().code == Errc::usage);
  }
}

TEST_CASE("names are refused, and headings that do not say which column is what") {
  CHECK(refusal("alice bob\n").starts_with("a.txt:1: vertex 'alice' is not an integer"));
  CHECK(refusal("alice bob\nbob carol\n") ==
        "a.txt:1: vertices 'alice' and 'bob' is a name; renumber the vertices from 0");
  CHECK(refusal("alice 1\n").starts_with("a.txt:1: vertex 'alice'"));
  CHECK(refusal("a,b,c\n0,1,2\n").starts_with("a.txt:1: the heading has no source and target columns"));
  CHECK(refusal("source,target,weight,value\n0,1,2,3\n").starts_with("a.txt:1: the heading is ambiguous"));
  CHECK(refusal("source,target,weight\n0,1,\n") == "a.txt:2: missing weight; the preceding edges have one");
  CHECK(refusal("source,target\n0,1,2,3\n") == "a.txt:2: 4 fields; expected 2 columns");
  CHECK(refusal("0 1 {'weight': 3}\n1 2 {}\n") == "a.txt:2: missing weight; the preceding edges have one");
  CHECK(refusal("4 5\n1 2 5\n2 3 6\n") ==
        "a.txt:2: unexpected weight; the preceding edges have none; if line 1 has counts, start it with #");
  CHECK(refusal("3\n1 2\n2 3\n") ==
        "a.txt:1: a line with one number; expected an edge (start the line with # if it is a count)");
  CHECK(refusal("0 1.5\n").starts_with("a.txt:1: vertex '1.5' is not an integer"));
  CHECK(refusal("0 1\r1 x\r").starts_with("a.txt:2: vertex 'x'"));
  CHECK(refusal(std::string("\xFF\xFE"
                            "0\0 \0"
                            "1\0",
                            8))
            .starts_with("a.txt:1: the text is UTF-16"));
  CHECK(refusal("0;1;2,5\n") == "a.txt:1: weight '2,5' is not a number");
}

TEST_CASE("a header gives the shape") {
  const auto bipartite = read("% bip unweighted\n% 2 3 5\n1 1\n3 4\n");
  REQUIRE(bipartite);
  CHECK(bipartite->csr.rows == 3);
  CHECK(bipartite->csr.cols == 5);
  CHECK(entries_of(bipartite->csr.view()) == Entries{{{0, 0}, 1}, {{2, 3}, 1}});
  CHECK(read("% bip unweighted\n1 1\n3 4\n")->csr.cols == 4);
  CHECK(read("% bip unweighted\n1 1\n3 4\n")->csr.rows == 3);
  CHECK(read("\xEF\xBB\xBF# 3 x 4, base 0\n0 1\n")->csr.cols == 4);
  CHECK(read("10 2\n0 1\n1 2\n")->csr.rows == 10);
  CHECK(refusal("% asym unweighted\n% 1 2 2\n1 3\n").starts_with("a.txt: edge 1 has vertex 3"));
}

TEST_CASE("edges without weights count where they come several times") {
  const auto a = read("0 1\n1 2\n0 1\n0 1\n");
  REQUIRE(a);
  CHECK(a->duplicates == 2);
  CHECK(!a->csr.view().is_pattern());
  CHECK(entries_of(a->csr.view()) == Entries{{{0, 1}, 3}, {{1, 2}, 1}});
  CHECK(entries_of(read("0 1 {}\n0 1 {}\n")->csr.view()) == Entries{{{0, 1}, 2}});
}

TEST_CASE("the start of a text tells an edge list") {
  for (const char* text : {"0 1\n", "# c\n\n0,1\n", "\xEF\xBB\xBF\"0\"\t\"1\"\n", "src;dst\n",
                           "% bip positive\n", "0 1 {}\r\n", "0.0 1.0"})
    CHECK(starts_edge_list(text));
  for (const char* text : {"", "hello\n", "hello world\n", "5\n", "%%MatrixMarket matrix\n", "{\"a\": 1}\n",
                           "# c\n", "0.5 0.25\n"})
    CHECK(!starts_edge_list(text));
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
