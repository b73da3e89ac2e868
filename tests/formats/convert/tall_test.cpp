#include "formats/convert/tall.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "formats/convert/tall_height.hpp"
#include "formats/layout/tall.hpp"
#include "tests/formats/slow/tall.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

TEST_CASE(
    "tall: at every height, a conversion is what the obvious builder gives, and its inverse gives the "
    "matrix back") {
  for (const Sample& sample : sample_matrices()) {
    CAPTURE(sample.name);
    const Csr a = make_csr(sample.cols, sample.rows, DType::none);
    std::vector<std::int64_t> positions(static_cast<std::size_t>(a.nnz()));
    std::iota(positions.begin(), positions.end(), 0);
    CsrView view = a.view();
    view.values = ArrayView(std::span<const std::int64_t>(positions));
    for (int level = 0; level < kTallLevels; ++level) {
      CAPTURE(level);
      const auto data = tall_from_csr_at(view, level, {}, nullptr);
      REQUIRE(data);
      SlowArrays expected = slow_tall_at(sample.rows, static_cast<std::size_t>(tall_height(level)));
      for (std::size_t i = 0; i < data->arrays.size(); ++i) {
        CAPTURE(kTallLayout.arrays[i].name);
        CHECK(elements(data->arrays[i].view()) == expected.at(std::string(kTallLayout.arrays[i].name)));
      }

      const Csr real = make_csr(sample.cols, sample.rows, DType::f32);
      const auto stored = tall_from_csr_at(real.view(), level, {}, nullptr);
      REQUIRE(stored);
      const Status status = check(stored->view());
      CHECK_MESSAGE(status.has_value(), status.error().text());
      const auto back = find_converter("tall")->to_csr(stored->view());
      REQUIRE(back);
      CHECK(identical(back->view(), real.view()));
    }
  }
}

TEST_CASE("tall: the groups of a window are dealt to their places by reversed numbers") {
  for (const std::size_t groups : {1, 2, 3, 4, 5, 7, 8, 9, 100, 1000}) {
    BitReversedOrder deal(static_cast<std::int64_t>(groups));
    for (const std::size_t expected : slow_deal(groups))
      CHECK(deal.next() == static_cast<std::int64_t>(expected));
  }
}

TEST_CASE("tall: a small matrix gets windows of 64 rows, or of all of its rows") {
  Rows shared(512), alone(512);
  for (std::size_t r = 0; r < 512; ++r)
    for (std::int32_t c = 0; c < 200; ++c) {
      shared[r].push_back(static_cast<std::int32_t>(r / 128) * 1000 + 3 * c);
      alone[r].push_back(static_cast<std::int32_t>(r) * 200 + c);
    }
  const auto height = [](std::int64_t cols, const Rows& rows) {
    const Csr a = make_csr(cols, rows);
    const auto data = find_converter("tall")->from_csr(a.view(), nullptr);
    return data->parameters.at(0).second.integer;
  };
  CHECK(height(5000, shared) == 64);
  CHECK(height(512 * 200, alone) == 64);
  CHECK(height(5000, Rows(shared.begin(), shared.begin() + 16)) == 16);
}

TEST_CASE("tall: windows of 128 rows are for large matrices whose windows share half of their columns") {
  const auto counts_of = [](std::int64_t groups, std::int64_t of_128) {
    TallCounts counts{};
    for (int level = 0; level < kTallLevels; ++level) {
      const std::int64_t now = level == kTallLevels - 1 ? of_128 : groups << std::max(2 - level, 0);
      counts[static_cast<std::size_t>(level)] = {1000, 8 * now, now, 4 * groups};
    }
    return counts;
  };
  CHECK(tall_height(cheapest_level(counts_of(500'000, 290'000))) == 128);
  CHECK(tall_height(cheapest_level(counts_of(500'000, 350'000))) == 64);
  CHECK(tall_height(cheapest_level(counts_of(30'000, 16'000))) == 64);
}

TEST_CASE("tall: counting a sample finds about as much as counting everything") {
  const Csr a = make_csr(3000, short_rows(20000, 3000, 30, 5));
  const auto all = count_tall_windows(a.view()), some = count_tall_windows(a.view(), 40000);
  const TallSample sample(a.rows, a.nnz(), 40000);
  CHECK(sample.size() < sample.blocks / 5);
  for (std::size_t level = 0; level < all.size(); ++level) {
    const int height = tall_height(static_cast<int>(level));
    CHECK(some[level].columns != all[level].columns);
    CHECK(static_cast<double>(some[level].bytes(height)) ==
          doctest::Approx(static_cast<double>(all[level].bytes(height))).epsilon(0.05));
  }
}
