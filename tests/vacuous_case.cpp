// A case that checks nothing, for skip_test.py: it must not pass.
#include <doctest/doctest.h>

#include <vector>

TEST_CASE("every element of nothing") {
  const std::vector<int> nothing;
  for (const int element : nothing) CHECK(element == 0);
}
