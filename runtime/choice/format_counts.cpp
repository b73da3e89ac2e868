#include "runtime/choice/format_counts.hpp"

#include <algorithm>

#include "formats/layout/blocks.hpp"
#include "runtime/choice/simulated_cache.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatView;

/// Unsigned, because offsets of a damaged matrix may overflow.
std::int64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
}

/// Counts of units of one kind.
struct UnitCounts {
  std::int64_t longest = 0, pieces = 0;
};

/// Counts units with `loads` loads per step of their offsets, and `all` loads in total.
template <class T>
UnitCounts count_units(std::span<const T> offsets, std::int64_t loads, std::int64_t all) {
  UnitCounts counts;
  const std::int64_t steps = std::clamp(all / kItems, kMinPiece / loads, kMaxPiece / loads);
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const std::int64_t length = std::clamp(distance(offsets[i - 1], offsets[i]), std::int64_t{0}, all);
    longest = std::max(longest, length);
    if (length / steps > kLongPieces) counts.pieces += length / steps;
  }
  counts.longest = loads * longest;
  return counts;
}

struct Misses {
  std::int64_t loads = 0, misses = 0;
};

void walk(std::span<const std::int32_t> run, std::size_t warm, SimulatedCache& cache, Misses& total) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!cache.samples(run[i])) continue;
    const bool hit = cache.fetch(run[i]);
    if (i < warm) continue;
    ++total.loads;
    total.misses += hit ? 0 : 1;
  }
}

}  // namespace

FormatCounts count_format(const FormatView& a) {
  const formats::Blocks blocks = formats::blocks_of(a);
  const UnitCounts windows = count_units(blocks.tile_offset, 8, blocks.tiles());
  const UnitCounts rows = count_units(blocks.rows.offset, 1, std::ssize(blocks.rows.columns));
  FormatCounts counts;
  counts.loads = blocks.loads();
  counts.tiles = a.layout->tc_blocks(a);
  counts.entries = a.nnz;
  counts.units = blocks.windows() + blocks.rows.size();
  counts.longest = std::max(windows.longest, rows.longest);
  counts.pieces = windows.pieces + rows.pieces;
  counts.bytes = formats::index_bytes(a) + formats::value_bytes(a);
  counts.lists = {blocks.columns, blocks.rows.columns};
  return counts;
}

std::array<ListRange, 2> sampled_ranges(std::size_t size, std::int64_t sample) {
  const auto run = static_cast<std::size_t>(sample);
  if (size <= 2 * run) return {{{0, size}, {size, 0}}};
  const std::size_t third = size / 3;
  return {{{std::min(third, size / 2 - run), run}, {std::min(2 * third, size - run), run}}};
}

double miss_share(const LoadLists& lists, std::int64_t cached_rows, std::int64_t sample) {
  SimulatedCache cache(cached_rows);
  double misses = 0, loads = 0;
  for (const auto& list : lists) {
    Misses found;
    const auto [first, second] = sampled_ranges(list.size(), sample);
    const bool whole = second.size == 0;
    walk(list.subspan(first.begin, first.size), whole ? 0 : first.size / 2, cache, found);
    if (!whole) cache.forget();
    walk(list.subspan(second.begin, second.size), second.size / 2, cache, found);
    if (found.loads == 0) continue;
    const auto size = static_cast<double>(list.size());
    misses += size * static_cast<double>(found.misses) / static_cast<double>(found.loads);
    loads += size;
  }
  return loads > 0 ? misses / loads : 0;
}

}  // namespace sptile::runtime
