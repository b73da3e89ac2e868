// Counts of formats and the estimate of cache misses, on lists that can be followed by hand.
#include "runtime/choice/format_counts.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/tall.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using runtime::FormatCounts;
using runtime::miss_share;

namespace {

constexpr std::int64_t kAll = 1 << 20;

std::vector<std::int32_t> rounds(int columns, int times) {
  std::vector<std::int32_t> list;
  for (int t = 0; t < times; ++t)
    for (int c = 0; c < columns; ++c) list.push_back(c);
  return list;
}

}  // namespace

TEST_CASE("format counts: a small matrix by hand") {
  const BundleSample sample;  // [. 1 . . 2 / . . . . . / 3 4 . 5 .]
  const FormatCounts csr = runtime::count_format(formats::as_format(sample.csr()));
  CHECK(csr.loads == 5);
  CHECK(csr.tiles == 0);
  CHECK(csr.entries == 5);
  CHECK(csr.units == 3);
  CHECK(csr.longest == 3);
  CHECK(csr.bytes == 4 * 8 + 5 * 4 + 5 * 4);
  const FormatCounts bittcf = runtime::count_format(sample.bittcf());
  CHECK(bittcf.loads == 8);
  CHECK(bittcf.tiles == 1);
  CHECK(bittcf.entries == 5);
  CHECK(bittcf.units == 1);
  CHECK(bittcf.longest == 8);
  CHECK(bittcf.bytes == 2 * 4 + 2 * 4 + 8 + 8 * 4 + 5 * 4);
}

TEST_CASE("format counts: every format counts its fetches in groups of 8 columns") {
  test::Random random(3);
  const formats::Csr a = test::random_matrix(200, 150, 0.05, DType::f32, random);
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const formats::FormatData data = *converter.from_csr(a.view(), nullptr);
    const formats::FormatView view = data.view();
    const FormatCounts counts = runtime::count_format(view);
    CHECK(counts.entries == a.nnz());
    CHECK(counts.tiles == view.layout->tc_blocks(view));
    CHECK(counts.units >= 1);
    CHECK(counts.units <= 225);  // windows and residual rows
    CHECK(counts.longest >= 1);
    CHECK(counts.longest <= counts.loads);
    CHECK(counts.bytes == formats::index_bytes(view) + formats::value_bytes(view));
    const formats::Blocks blocks = formats::blocks_of(view);
    if (blocks.placement == formats::WindowPlacement::regular)
      CHECK(counts.loads == 8 * counts.tiles + std::ssize(blocks.rows.columns));
    if (converter.format == "tall") CHECK(counts.loads == 8 * std::ssize(formats::as_tall(view).group_mask));
  }
}

TEST_CASE("format counts: an empty matrix") {
  const std::vector<std::int64_t> row_ptr = {0};
  const formats::CsrView empty{0, 0, row_ptr, {}, {}};
  const FormatCounts counts = runtime::count_format(formats::as_format(empty));
  CHECK(counts.loads == 0);
  CHECK(counts.longest == 0);
  CHECK(miss_share(counts.lists, 1, kAll) == 0);
}

TEST_CASE("format counts: offsets of a damaged matrix are read safely") {
  const std::vector<std::int64_t> row_ptr = {0, std::numeric_limits<std::int64_t>::max(),
                                             std::numeric_limits<std::int64_t>::min(), 3};
  const std::vector<std::int32_t> columns = {-7, std::numeric_limits<std::int32_t>::max(), 0};
  const formats::CsrView damaged{3, 3, row_ptr, columns, {}};
  const FormatCounts counts = runtime::count_format(formats::as_format(damaged));
  CHECK(counts.loads == 3);
  CHECK(miss_share(counts.lists, 2, kAll) <= 1);
}

TEST_CASE("miss share: what fits is fetched once") {
  const auto list = rounds(10, 4);
  CHECK(miss_share({list}, 100, kAll) == doctest::Approx(0.25));
  CHECK(miss_share({list}, 20, kAll) == doctest::Approx(0.25));
}

TEST_CASE("miss share: a sweep over more than fits never hits") {
  CHECK(miss_share({rounds(1000, 3)}, 100, kAll) == 1);
  CHECK(miss_share({rounds(2, 5)}, 1, kAll) <= 1);
}

TEST_CASE("miss share: two lists are two runs, weighted by their lengths") {
  const auto first = rounds(10, 2), second = rounds(10, 2);
  CHECK(miss_share({first, second}, 100, kAll) == doctest::Approx(0.25));  // the second finds all
}

TEST_CASE("miss share: long lists and large caches are sampled to about the same") {
  test::Random random(5);
  std::vector<std::int32_t> list(600'000);
  for (std::int32_t& column : list) column = static_cast<std::int32_t>(random() % 50'000);
  const double all = miss_share({list}, 25'000, kAll);
  CHECK(all == doctest::Approx(0.5).epsilon(0.25));  // half of the rows are there
  CHECK(miss_share({list}, 25'000, 100'000) == doctest::Approx(all).epsilon(0.1));
  CHECK(miss_share({list}, 200'000, kAll) == doctest::Approx(50'000.0 / 600'000).epsilon(0.2));
}

TEST_CASE("sampled ranges: within the list, and those of a smaller sample within those of a larger one") {
  const auto within = [](const runtime::ListRange& a, const runtime::ListRange& b) {
    return a.begin >= b.begin && a.begin + a.size <= b.begin + b.size;
  };
  for (const std::size_t size : {0, 1, 64, 65, 127, 128, 129, 190, 1000, 100000}) {
    CAPTURE(size);
    const auto large = runtime::sampled_ranges(size, 64), small = runtime::sampled_ranges(size, 4);
    for (const auto& range : large) CHECK(range.begin + range.size <= size);
    CHECK(large[0].begin + large[0].size <= large[1].begin);  // they do not overlap
    CHECK(large[0].size + large[1].size == std::min<std::size_t>(size, 128));
    for (const auto& range : small)
      if (range.size > 0) CHECK((within(range, large[0]) || within(range, large[1])));
  }
}
