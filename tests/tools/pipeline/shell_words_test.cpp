#include "tools/pipeline/shell_words.hpp"

#include <doctest/doctest.h>

using namespace sptile::tools;

TEST_CASE("a command line keeps options as they are, and quotes what a shell would read otherwise") {
  CHECK(shell_line({"sptile", "convert", "a.mtx", "--format=csr,tall:64", "-q"}) ==
        "sptile convert a.mtx --format=csr,tall:64 -q");
  CHECK(shell_line({"sptile", "info", "it's $(x).h5"}) == "sptile info 'it'\\''s $(x).h5'");
  CHECK(shell_line({"a", ""}) == "a ''");
  CHECK(shell_line({}).empty());
}
