#include "runtime/choice/format_counts.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "formats/layout/blocks.hpp"

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

/// Multiplier of Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
constexpr std::uint64_t kHash = 0x9E3779B97F4A7C15;
/// Maximum rows of a simulated cache. Larger caches are simulated for a fraction of the columns, with a cache
/// of the same fraction (Waldspurger et al., SHARDS, FAST 2015).
constexpr std::int64_t kMaxRows = 1 << 14;
/// Hash table slots per row, enough to make collisions rare.
constexpr std::uint64_t kSlotsPerRow = 32, kMinSlots = 4096;

/// Two generations of rows of B. When the younger one is full, the older one is discarded.
class TwoGenerations {
 public:
  explicit TwoGenerations(std::int64_t cached_rows) {
    while (cached_rows >> skip_ > kMaxRows) ++skip_;
    half_ = std::max<std::int64_t>((cached_rows >> skip_) / 2, 1);
    slots_.resize(std::bit_ceil(std::max(kSlotsPerRow * static_cast<std::uint64_t>(half_), kMinSlots)));
  }

  /// Returns whether a column is in the sample.
  [[nodiscard]] bool samples(std::int32_t column) const { return (hash(column) & ((1u << skip_) - 1)) == 0; }

  /// Loads a row. Returns whether it was a hit.
  bool fetch(std::int32_t column) {
    Slot& slot = slots_[hash(column) >> 24 & (slots_.size() - 1)];
    const bool same = slot.column == column;
    if (same && slot.generation == now_) return true;
    const bool hit = same && slot.generation == now_ - 1;
    slot = {column, now_};
    if (++held_ >= half_) {
      ++now_;
      held_ = 0;
    }
    return hit;
  }

  void forget() {
    now_ += 2;
    held_ = 0;
  }

 private:
  struct Slot {
    std::int32_t column = 0, generation = 0;
  };
  static std::uint64_t hash(std::int32_t column) { return static_cast<std::uint32_t>(column) * kHash >> 16; }

  std::vector<Slot> slots_;
  std::int64_t half_, held_ = 0;
  std::int32_t now_ = 2;
  int skip_ = 0;  ///< one in 2^skip columns is sampled
};

struct Misses {
  std::int64_t loads = 0, misses = 0;
};

void walk(std::span<const std::int32_t> run, std::size_t warm, TwoGenerations& cache, Misses& total) {
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

double miss_share(const LoadLists& lists, std::int64_t cached_rows, std::int64_t sample) {
  TwoGenerations cache(cached_rows);
  double misses = 0, loads = 0;
  for (const auto& list : lists) {
    Misses found;
    const auto run = static_cast<std::size_t>(sample);
    if (list.size() <= 2 * run) {
      walk(list, 0, cache, found);
    } else {
      const std::size_t third = list.size() / 3;
      walk(list.subspan(std::min(third, list.size() / 2 - run), run), run / 2, cache, found);
      cache.forget();
      walk(list.subspan(std::min(2 * third, list.size() - run), run), run / 2, cache, found);
    }
    if (found.loads == 0) continue;
    const auto size = static_cast<double>(list.size());
    misses += size * static_cast<double>(found.misses) / static_cast<double>(found.loads);
    loads += size;
  }
  return loads > 0 ? misses / loads : 0;
}

}  // namespace sptile::runtime
