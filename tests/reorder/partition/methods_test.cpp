#include "reorder/partition/methods.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "formats/core/csr.hpp"
#include "reorder/partition/k_way.hpp"
#include "reorder/partition/largest_send.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;
using namespace sptile::reorder;

namespace {

// Rows that each part sends, by sets.
std::vector<std::int64_t> sent_rows(const formats::CsrView& a, std::span<const std::int32_t> part,
                                    std::int32_t parts) {
  std::set<std::pair<std::int32_t, std::int32_t>> needed;  // column, part
  for (std::size_t r = 0; r < part.size(); ++r)
    for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i)
      needed.emplace(a.col_idx[static_cast<std::size_t>(i)], part[r]);
  std::vector<std::int64_t> sent(static_cast<std::size_t>(parts), 0);
  for (const auto& [column, receiver] : needed)
    if (const std::int32_t owner = part[static_cast<std::size_t>(column)]; owner != receiver)
      ++sent[static_cast<std::size_t>(owner)];
  return sent;
}

// A square grid whose vertices are coupled to their four neighbours and themselves, shuffled.
tests::Pattern shuffled_grid(std::int32_t side, std::uint64_t seed) {
  const auto label = random_permutation(side * side, RandomStream(seed));
  std::vector<std::set<std::int32_t>> rows(label.size());
  const auto at = [&](std::int32_t x, std::int32_t y) {
    return label[static_cast<std::size_t>(y * side + x)];
  };
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < side; ++x) {
      auto& row = rows[static_cast<std::size_t>(at(x, y))];
      row.insert(at(x, y));
      if (x > 0) row.insert(at(x - 1, y));
      if (x + 1 < side) row.insert(at(x + 1, y));
      if (y > 0) row.insert(at(x, y - 1));
      if (y + 1 < side) row.insert(at(x, y + 1));
    }
  tests::Pattern a;
  a.cols = side * side;
  for (auto& row : rows) a.add_row(row);
  return a;
}

std::int64_t heaviest(const formats::CsrView& a, std::span<const std::int32_t> part, std::int32_t parts) {
  std::vector<std::int64_t> weight(static_cast<std::size_t>(parts), 0);
  for (std::size_t r = 0; r < part.size(); ++r)
    weight[static_cast<std::size_t>(part[r])] += row_weight(a, static_cast<std::int64_t>(r));
  return std::ranges::max(weight);
}

}  // namespace

TEST_CASE("every method gives each row one place, the same each time, for any number of parts") {
  for (const PartitionMethod& method : partition_methods())
    for (const std::int64_t rows : {0, 1, 5, 120})
      for (const std::int32_t parts : {1, 2, 7, 200}) {
        CAPTURE(method.name);
        CAPTURE(rows);
        CAPTURE(parts);
        const auto a = tests::random_pattern(rows, rows, 6, 5);
        const auto first = method.run(a.view(), parts, {}), again = method.run(a.view(), parts, {});
        REQUIRE(first);
        REQUIRE(again);
        REQUIRE(first->parts() == parts);
        CHECK(first->rows() == rows);
        CHECK(first->offset == again->offset);
        CHECK(first->old_row == again->old_row);
        if (first->in_order()) continue;
        CHECK(formats::check_permutation(first->old_row, rows));
        CHECK(first->place.size() == first->old_row.size());
      }
}

TEST_CASE("a method is found by its name") {
  REQUIRE(find_partition_method("rows") != nullptr);
  CHECK(find_partition_method("rows")->streams);
  CHECK(find_partition_method("row") == nullptr);
}

TEST_CASE("parts of a shuffled grid are found: little is sent, and weights are alike") {
  const auto a = shuffled_grid(60, 9);
  for (const std::int32_t parts : {2, 4, 9}) {
    CAPTURE(parts);
    const auto part = k_way_parts(a.view(), parts, {});
    REQUIRE(part);
    const auto sent = sent_rows(a.view(), *part, parts);
    std::int64_t volume = 0;
    for (const std::int64_t rows : sent) volume += rows;
    CHECK(volume < 60 * parts * 2);  // straight cuts: about 2 * 60 * (sqrt(parts) - 1) * 2
    CHECK(heaviest(a.view(), *part, parts) <= 1.04 * static_cast<double>(a.view().nnz() + a.rows) / parts);
  }
}

TEST_CASE("what the largest sender has is bounded without more weight or volume than allowed") {
  int lowered = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const auto a = tests::random_pattern(400, 400, 8, seed);
    for (const std::int32_t parts : {2, 5, 16, 90}) {
      CAPTURE(seed);
      CAPTURE(parts);
      std::vector<std::int32_t> part(400);
      RandomStream random(seed);
      for (auto& p : part) p = static_cast<std::int32_t>(random.below(1 + random.below(parts)));
      const auto before = sent_rows(a.view(), part, parts);
      const std::int64_t heavy = heaviest(a.view(), part, parts);
      const SentRows found = bound_largest_send(a.view(), parts, part);
      const auto after = sent_rows(a.view(), part, parts);
      std::int64_t volume = 0, volume_before = 0;
      for (const std::int64_t rows : after) volume += rows;
      for (const std::int64_t rows : before) volume_before += rows;
      CHECK(found.total == volume);
      CHECK(found.largest == std::ranges::max(after));
      CHECK(found.largest <= std::ranges::max(before));
      lowered += found.largest < std::ranges::max(before);
      CHECK(volume <= 1.02 * static_cast<double>(volume_before));
      CHECK(heaviest(a.view(), part, parts) <=
            std::max(heavy,
                     static_cast<std::int64_t>(1.05 * static_cast<double>(a.view().nnz() + a.rows) / parts)));
    }
  }
  CHECK(lowered > 10);
}
