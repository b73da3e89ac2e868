#include "formats/convert/tile_bits.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <random>
#include <vector>

using namespace sptile::formats;

TEST_CASE("tile bits: transposing swaps rows and columns, and twice gives the same back") {
  std::mt19937_64 generator(1);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = generator() & generator();
    std::uint64_t expected = 0;
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c) expected |= (x >> (8 * r + c) & 1) << (8 * c + r);
    CHECK(transpose_bits(x) == expected);
    CHECK(transpose_bits(expected) == x);
  }
}

TEST_CASE("tile bits: both ways of taking values give each bit the next value of its row") {
  std::mt19937_64 generator(2);
  std::vector<std::uint32_t> values(8 * 16);
  std::iota(values.begin(), values.end(), 0u);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t mask = i == 0   ? 0
                               : i == 1 ? ~std::uint64_t{0}
                                        : generator() & (i % 2 == 0 ? generator() : ~std::uint64_t{0});
    const std::uint32_t* rows[2][8];
    for (int r = 0; r < 8; ++r) rows[0][r] = rows[1][r] = values.data() + 16 * r;
    std::vector<std::uint32_t> slow(64), fast(64);
    const auto slow_size = copy_values(mask, rows[0], slow.data()) - slow.data();
    const auto fast_size = copy_values_in_runs(mask, rows[1], fast.data()) - fast.data();
    CHECK(slow_size == std::popcount(mask));
    CHECK(fast_size == slow_size);
    slow.resize(static_cast<std::size_t>(slow_size));
    fast.resize(static_cast<std::size_t>(fast_size));
    CHECK(slow == fast);
    std::vector<std::uint32_t> expected;
    for (unsigned r = 0; r < 8; ++r)
      for (unsigned k = 0; k < kBitsOfByte[mask >> (8 * r) & 0xFF]; ++k) expected.push_back(16 * r + k);
    CHECK(slow == expected);
    for (int r = 0; r < 8; ++r) CHECK(rows[0][r] == rows[1][r]);
  }
}
