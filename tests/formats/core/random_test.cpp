#include "formats/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace sptile;

TEST_CASE("streams repeat for the same seed and number, and differ for others") {
  RandomStream a(7, 3), b(7, 3), other_number(7, 4), other_seed(8, 3);
  const std::uint64_t first = a.next();
  CHECK(first == b.next());
  CHECK(first != other_number.next());
  CHECK(first != other_seed.next());
}

TEST_CASE("mix_bits keeps the value it always had: files made from a seed never change") {
  CHECK(mix_bits(1) == 0x5692161d100b05e5ull);
  CHECK(RandomStream(1).next() == RandomStream(1, 0).next());
}

TEST_CASE("below stays below its bound and reaches every value") {
  RandomStream random(1);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(10));
  CHECK(seen.size() == 10);
  CHECK(*seen.begin() == 0);
  CHECK(*seen.rbegin() == 9);
  CHECK(random.below(1) == 0);
}

TEST_CASE("signed_unit lies in (-1, 1), is never zero, and is even") {
  RandomStream random(5);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.signed_unit();
    REQUIRE(std::abs(x) < 1);
    REQUIRE(x != 0);
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / kDraws) < 0.01);
  CHECK(squares / kDraws == doctest::Approx(1.0 / 3).epsilon(0.02));
}

TEST_CASE("a random permutation holds every id once and moves most of them") {
  const auto order = random_permutation(1000, RandomStream(2));
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  int fixed = 0;
  for (std::int32_t i = 0; i < 1000; ++i) {
    REQUIRE(sorted[static_cast<std::size_t>(i)] == i);
    fixed += order[static_cast<std::size_t>(i)] == i;
  }
  CHECK(fixed < 20);
  CHECK(random_permutation(0, RandomStream(2)).empty());
}
