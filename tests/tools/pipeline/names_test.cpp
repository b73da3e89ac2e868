#include "tools/pipeline/names.hpp"

#include <doctest/doctest.h>

using namespace sptile;
using namespace sptile::tools;

namespace {
const std::vector<std::string> kVerbs = {"convert", "stats", "info", "verify", "export", "run"};
}

TEST_CASE("the nearest name survives one or two slips") {
  CHECK(nearest_name("covnert", kVerbs) == "convert");
  CHECK(nearest_name("stat", kVerbs) == "stats");
  CHECK(nearest_name("veryfi", kVerbs) == "verify");
  CHECK(nearest_name("conv", kVerbs) == "convert");
}

TEST_CASE("other words for the same thing win over letters that are alike") {
  const std::vector<std::string> verbs = {"convert", "stats", "spy",   "info",
                                          "verify",  "run",   "bench", "reorder"};
  CHECK(nearest_name("benchmark", verbs) == "bench");
  CHECK(nearest_name("show", verbs) == "info");
  CHECK(nearest_name("sort", verbs) == "reorder");
  CHECK(nearest_name("compress", verbs) == "convert");
  CHECK(nearest_name("gpu", {"cpu", "cuda"}) == "cuda");
  CHECK(nearest_name("CUDA", {"cpu", "cuda"}) == "cuda");
  CHECK(nearest_name("all", {"csr", "tall", "auto"}) == "auto");
  CHECK(nearest_name("float", {"f64", "f32"}) == "f32");
  CHECK(nearest_name("float", {"fp64", "fp32"}) == "fp32");
  CHECK(nearest_name("--n", {"--op", "-n"}) == "-n");
  CHECK(nearest_name("gpu", {"convert"}).empty());
}

TEST_CASE("far names get no suggestion") {
  CHECK(nearest_name("frobnicate", kVerbs).empty());
  CHECK(nearest_name("", kVerbs).empty());
  CHECK(nearest_name(std::string(100000, 'x'), kVerbs).empty());
}

TEST_CASE("an unknown name is a usage error that lists what is known") {
  const Error error = unknown_name("verb", "exprot", kVerbs);
  CHECK(error.code == Errc::usage);
  CHECK(error.message.find("did you mean 'export'?") != std::string::npos);
  CHECK(error.message.find("convert, stats") != std::string::npos);
}

TEST_CASE("a name is found at its place, or the error says which is near") {
  for (std::size_t i = 0; i < kVerbs.size(); ++i) CHECK(*find_name("verb", kVerbs[i], kVerbs) == i);
  const auto at = find_name("verb", "exprot", kVerbs);
  REQUIRE_FALSE(at.has_value());
  CHECK(at.error().message == unknown_name("verb", "exprot", kVerbs).message);
}

TEST_CASE("lists of names: all, some, repeated, unknown, empty") {
  CHECK(*parse_names("verb", "all", kVerbs) == kVerbs);
  CHECK(*parse_names("verb", "run,info,run", kVerbs) == std::vector<std::string>{"run", "info"});
  for (const char* const bad : {"run,", ",run", "", "run,walk"}) {
    CAPTURE(bad);
    const auto names = parse_names("verb", bad, kVerbs);
    REQUIRE_FALSE(names.has_value());
    CHECK(names.error().code == Errc::usage);
  }
}

TEST_CASE("case and separators do not distinguish names, exact ones first") {
  const std::vector<std::string> known = {"rs_tile", "wjaccard", "loa", "metis-nd", "metis_nd"};
  CHECK(*find_name("format", "RS-Tile", known) == 0);
  CHECK(*find_name("reorderer", "w-Jaccard", known) == 1);
  CHECK(*find_name("reorderer", "LOA", known) == 2);
  CHECK(*find_name("reorderer", "metis_nd", known) == 4);
  CHECK(*parse_names("reorderer", "LOA,loa,W_Jaccard", known) == std::vector<std::string>{"loa", "wjaccard"});
  CHECK_FALSE(find_name("reorderer", "-", known).has_value());
  CHECK_FALSE(find_name("reorderer", "jaccard", known).has_value());
}
