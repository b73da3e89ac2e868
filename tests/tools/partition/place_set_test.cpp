#include "tools/partition/place_set.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/core/random.hpp"

using namespace sptile;

namespace {

std::vector<std::int64_t> places_in(const tools::PlaceSet& set, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> found;
  set.each(first, last, [&](std::int64_t place) { found.push_back(place); });
  return found;
}

}  // namespace

TEST_CASE("a set has the places whose bits were set, few or many") {
  for (const std::int64_t places : {0, 1, 63, 64, 65, 500})
    for (const std::int64_t of_hundred : {0, 2, 40, 100}) {
      CAPTURE(places);
      CAPTURE(of_hundred);
      RandomStream random(7, static_cast<std::uint64_t>(places));
      std::vector<std::uint64_t> bits(static_cast<std::size_t>(tools::words_for(places)));
      std::vector<std::int64_t> all;
      for (std::int64_t place = 0; place < places; ++place) {
        if (random.below(100) >= of_hundred) continue;
        bits[static_cast<std::size_t>(place / 64)] |= std::uint64_t{1} << (place % 64);
        all.push_back(place);
      }
      const tools::PlaceSet set(bits);
      CHECK(set.size() == std::ssize(all));
      CHECK(places_in(set, 0, places) == all);
      for (const std::int64_t first : {0, 1, 30, 64, 100})
        for (const std::int64_t last : {0, 1, 31, 64, 128, 499}) {
          if (first > last || last > places) continue;
          std::vector<std::int64_t> between;
          for (const std::int64_t place : all)
            if (place >= first && place < last) between.push_back(place);
          CHECK(places_in(set, first, last) == between);
          CHECK(set.count(first, last) == std::ssize(between));
        }
      const auto to = random_permutation(places, RandomStream(9));
      std::vector<std::int64_t> moved;
      for (const std::int64_t place : all) moved.push_back(to[static_cast<std::size_t>(place)]);
      std::ranges::sort(moved);
      CHECK(places_in(set.moved(to), 0, places) == moved);
      CHECK(set.moved(to).size() == set.size());
      const tools::PlaceRanks ranks(set, places);
      for (std::size_t i = 0; i < all.size(); ++i) CHECK(ranks.rank(all[i]) == static_cast<std::int32_t>(i));
    }
}
