#include "formats/convert/tall_height.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <bit>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"
#include "formats/layout/tall.hpp"

namespace sptile::formats {
namespace {

struct Counter {
  std::unique_ptr<TallMerger> merger;
  TallSorter sorter;
  TallCounts counts;

  void add_window(std::span<const TallKey> columns, TallCount& count) {
    const std::span<const std::uint64_t> sorted = sorter.sort(columns);
    ++count.windows;
    count.columns += std::ssize(columns);
    const std::int64_t groups = (std::ssize(columns) + 7) / 8;
    count.groups += groups;
    for (std::size_t i = 0; i < sorted.size(); i += 8) {
      std::uint64_t mask = 0;
      for (std::size_t c = i; c < std::min(i + 8, sorted.size()); ++c) mask |= sorted[c] >> 32;
      count.tiles += std::popcount(mask);
    }
  }

  void add_block(const CsrView& a, std::int64_t first_row) {
    merger->merge(a, first_row, kTallLevels - 1);
    for (int level = 0; level < kTallLevels; ++level)
      for (int i = 0; first_row + i * tall_height(level) < std::min(first_row + kTallMaxRows, a.rows); ++i)
        add_window(merger->columns(level, i), counts[static_cast<std::size_t>(level)]);
  }
};

}  // namespace

TallCounts count_tall_windows(const CsrView& a, std::int64_t entries) {
  const TallSample sample(a.rows, a.nnz(), entries);
  parallel::PerThread<Counter> counters([&] { return Counter{make_tall_merger(a.cols), {}, {}}; });
  parallel::loop(std::int64_t{0}, sample.size(),
                 [&](std::int64_t i) { counters.local().add_block(a, kTallMaxRows * sample.block(i)); });
  TallCounts sum{};
  for (const Counter& counter : counters)
    for (std::size_t level = 0; level < sum.size(); ++level) {
      sum[level].windows += counter.counts[level].windows;
      sum[level].columns += counter.counts[level].columns;
      sum[level].groups += counter.counts[level].groups;
      sum[level].tiles += counter.counts[level].tiles;
    }
  for (TallCount& count : sum) count = sample.of_all(count);
  return sum;
}

}  // namespace sptile::formats
