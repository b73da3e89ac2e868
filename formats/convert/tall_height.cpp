#include "formats/convert/tall_height.hpp"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <string>

#include "formats/layout/tall.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kColumns = 128;                   // of B
constexpr std::int64_t kColumnBytes = 4 * kColumns + 4;  // a row of B, the column's number
constexpr std::int64_t kGroupBytes = 8;                  // mask, offset
/// A tile reads 8 rows of B from shared memory, which gives about five times the bytes that L2 gives (29 TB/s
/// to 5.8 TB/s on an H100), and 12 bytes of index.
constexpr std::int64_t kTileBytes = 8 * 4 * kColumns / 5 + 12;
/// Finding that a group has no work takes a warp about 12 instructions, three cycles of a multiprocessor,
/// which get 25 bytes each.
constexpr std::int64_t kVisitBytes = 64;
/// Filling the pipeline of a window, with others beside it.
constexpr std::int64_t kWindowBytes = 8 << 10;

struct Counter {
  std::unique_ptr<TallMerger> merger;
  TallSorter sorter;
  std::array<TallCount, kTallLevels> counts;

  void add_window(std::span<const TallKey> columns, int level, TallCount& count) {
    const std::span<const std::uint64_t> sorted = sorter.sort(columns);
    ++count.windows;
    count.columns += std::ssize(columns);
    const std::int64_t groups = (std::ssize(columns) + 7) / 8;
    count.groups += groups;
    count.visits += groups * (tall_height(level) / 8);
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
        add_window(merger->columns(level, i), level, counts[static_cast<std::size_t>(level)]);
  }
};

}  // namespace

std::int64_t TallCount::bytes() const {
  return kColumnBytes * columns + kGroupBytes * groups + kTileBytes * tiles + kVisitBytes * visits +
         kWindowBytes * windows;
}

std::array<TallCount, kTallLevels> count_tall_windows(const CsrView& a, std::int64_t entries) {
  const std::int64_t blocks = (a.rows + kTallMaxRows - 1) / kTallMaxRows;
  const std::int64_t step = std::clamp<std::int64_t>(a.nnz() / std::max<std::int64_t>(entries, 1), 1,
                                                     std::max<std::int64_t>(blocks, 1));
  tbb::enumerable_thread_specific<Counter> counters([&] {
    return Counter{make_tall_merger(a.cols), {}, {}};
  });
  tbb::parallel_for(std::int64_t{0}, (blocks + step - 1) / step, [&](std::int64_t i) {
    counters.local().add_block(a, kTallMaxRows * std::min(i * step + step / 2, blocks - 1));
  });
  std::array<TallCount, kTallLevels> sum{};
  for (const Counter& counter : counters)
    for (std::size_t level = 0; level < sum.size(); ++level) {
      sum[level].windows += counter.counts[level].windows;
      sum[level].columns += counter.counts[level].columns;
      sum[level].groups += counter.counts[level].groups;
      sum[level].visits += counter.counts[level].visits;
      sum[level].tiles += counter.counts[level].tiles;
    }
  return sum;
}

int cheapest_level(const std::array<TallCount, kTallLevels>& counts) {
  const auto best =
      std::min_element(counts.begin(), counts.end(),
                       [](const TallCount& x, const TallCount& y) { return x.bytes() < y.bytes(); });
  return static_cast<int>(best - counts.begin());
}

Parameters tall_parameters(const std::array<TallCount, kTallLevels>& counts, int level) {
  Parameters parameters{{"window_rows", std::int64_t{tall_height(level)}}};
  for (int l = 0; l < kTallLevels; ++l)
    parameters.emplace_back("sampled_bytes_" + std::to_string(tall_height(l)),
                            counts[static_cast<std::size_t>(l)].bytes());
  return parameters;
}

}  // namespace sptile::formats
