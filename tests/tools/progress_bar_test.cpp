#include "tools/progress_bar.hpp"

#include <doctest/doctest.h>

using namespace sptile::tools;

TEST_CASE("a phase with a total shows its share and the time left") {
  CHECK(progress_line("read", 50, 100, 2.0, 80) ==
        "read       [====================                    ]  50%  2 s left");
  CHECK(progress_line("read", 100, 100, 2.0, 60) ==
        "read       [====================] 100%  less than 1 s left");
}

TEST_CASE("a phase without a total shows the count, or just its name") {
  CHECK(progress_line("inflate", 17, 0, 1, 80) == "inflate    17");
  CHECK(progress_line("commit", 0, 0, 1, 80) == "commit");
  CHECK(progress_line("", 0, 0, 1, 80).empty());
}

TEST_CASE("counts beyond the total and narrow terminals do no harm") {
  CHECK(progress_line("read", 500, 100, 2.0, 80).find("100%") != std::string::npos);
  CHECK(progress_line("read", 50, 100, 2.0, 12).size() == 11);
  CHECK(progress_line("read", 50, 100, 2.0, 0).empty());
}

TEST_CASE("the painter starts and stops without work") {
  sptile::Progress progress;
  ProgressBar bar(progress);
  bar.finish();
  bar.finish();
}
