#include "runtime/cpu/chunk.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace sptile::runtime;

namespace {

/// Checks that the chunks cover units x columns once, in order of units.
void check_cover(const std::vector<Chunk>& chunks, std::int64_t units, std::int64_t n) {
  std::int64_t unit = 0, col = 0, last = 0;
  for (const Chunk& chunk : chunks) {
    REQUIRE(chunk.first < chunk.last);
    REQUIRE(chunk.first_col < chunk.last_col);
    CHECK(chunk.first_col == col);
    if (col == 0) {
      CHECK(chunk.first == unit);
      last = chunk.last;
    }
    CHECK(chunk.last == last);
    col = chunk.last_col == n ? 0 : chunk.last_col;
    if (col == 0) unit = last;
  }
  CHECK(col == 0);
  CHECK(unit == units);
}

CostBefore prefix(const std::vector<std::int64_t>& costs) {
  std::vector<std::int64_t> before{0};
  for (const std::int64_t cost : costs) before.push_back(before.back() + cost);
  return [before](std::int64_t unit) { return before[static_cast<std::size_t>(unit)]; };
}

}  // namespace

TEST_CASE("chunks: cover every unit and column exactly once") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> costs(random() % 60);
    for (std::int64_t& cost : costs) cost = random() % 7 == 0 ? random() % 5000 : random() % 20;
    const std::int64_t n = 1 + random() % 400, target = 1 + random() % 300;
    std::vector<Chunk> chunks;
    append_chunks(chunks, 0, std::ssize(costs), n, prefix(costs), target);
    check_cover(chunks, std::ssize(costs), n);
  }
}

TEST_CASE("chunks: are balanced, and a giant unit stands alone, cut by columns") {
  std::vector<std::int64_t> costs(1000, 5);
  costs[500] = 5000;
  std::vector<Chunk> chunks;
  append_chunks(chunks, 0, 1000, 256, prefix(costs), 100);
  check_cover(chunks, 1000, 256);
  int giant = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.first == 500) {
      ++giant;
      CHECK(chunk.last == 501);
      CHECK(chunk.last_col - chunk.first_col == 64);
    } else {
      CHECK((chunk.last - chunk.first) * 5 <= 100);
    }
  }
  CHECK(giant == 4);
}

TEST_CASE("chunks: small problems are one chunk, large ones give each thread several") {
  CHECK(chunk_target(1000, 16, 8) >= 1000);
  CHECK(chunk_target(1'000'000, 128, 2) <= 1'000'000 / 2 / 4);
  CHECK(chunk_target(0, 1, 1) >= 1);
}
