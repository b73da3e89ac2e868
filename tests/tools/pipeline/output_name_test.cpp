#include "tools/pipeline/output_name.hpp"

#include <doctest/doctest.h>

using namespace sptile;
using namespace sptile::tools;

namespace {
std::string complaint(const std::string& path, FileKind kind) {
  const Status s = check_output_name(path, kind);
  if (s) return "";
  CHECK(s.error().code == Errc::usage);
  CHECK(s.error().where == path);
  return s.error().message;
}
}  // namespace

TEST_CASE("an ending that stands for something else is refused, with a name that fits") {
  CHECK(complaint("x.mtx", FileKind::bundle) == "the output is a bundle, not Matrix Market; name it x.h5");
  CHECK(complaint("d/x.PNG", FileKind::svg) == "the output is an SVG drawing, not PNG; name it d/x.svg");
  CHECK(complaint("x.h5.gz", FileKind::bundle).ends_with("name it x.h5"));
  CHECK(complaint("x.mtx.bz2", FileKind::matrix_market).ends_with("not bzip2; name it x.mtx"));
  CHECK(complaint("x.png.xz", FileKind::matrix_market).ends_with("not PNG; name it x.mtx"));
}

TEST_CASE("endings that fit, compressed text, and names that say nothing pass") {
  for (const char* path :
       {"x.mtx", "x.mtx.gz", "x.mtx.xz", "x.mtx.zst", "x.gz", "x.txt", "x", "-", "", "a.png/x"})
    CHECK(complaint(path, FileKind::matrix_market).empty());
  for (const char* path : {"x.h5", "x.HDF5", "x.bundle"}) CHECK(complaint(path, FileKind::bundle).empty());
  CHECK(complaint("order.txt.zst", FileKind::permutation).empty());
}

TEST_CASE("what a name stands for") {
  CHECK(named_kind("x.mtx.gz") == FileKind::matrix_market);
  CHECK(named_kind("x.h5") == FileKind::bundle);
  CHECK_FALSE(named_kind("x.h5.gz").has_value());
  CHECK_FALSE(named_kind("x.gz").has_value());
  CHECK_FALSE(named_kind("x.jpg").has_value());
  CHECK_FALSE(named_kind("x").has_value());
}

TEST_CASE("a proposed output stands beside its input, under another name") {
  CHECK(proposed_output("a.mtx", ".h5") == "a.h5");
  CHECK(proposed_output("data.d/a.mtx.xz", ".h5") == "data.d/a.h5");
  CHECK(proposed_output("data.d/graph", ".h5") == "data.d/graph.h5");
  CHECK(proposed_output("a.h5", ".h5") == "a-new.h5");
  CHECK(proposed_output(".hidden", ".h5") == ".hidden.h5");
  CHECK(proposed_output("-", ".h5") == "matrix.h5");
  CHECK(proposed_output("/dev/fd/63", ".mtx") == "matrix.mtx");
}
