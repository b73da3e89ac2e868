// A cache of rows of B that a product loads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace sptile::runtime {

/// Two generations of rows of B, each of half the size. When the younger one is full, the older one is
/// discarded. Counting a row of either as a hit approximates LRU to within half the size.
class SimulatedCache {
 public:
  explicit SimulatedCache(std::int64_t cached_rows) {
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

  /// Empties the cache.
  void forget() {
    now_ += 2;
    held_ = 0;
  }

 private:
  /// Multiplier of Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
  static constexpr std::uint64_t kHash = 0x9E3779B97F4A7C15;
  /// Maximum rows of a simulated cache. Larger caches are simulated for a fraction of the columns, with a
  /// cache of the same fraction (Waldspurger et al., SHARDS, FAST 2015).
  static constexpr std::int64_t kMaxRows = 1 << 14;
  /// Hash table slots per row, enough to make collisions rare.
  static constexpr std::uint64_t kSlotsPerRow = 32, kMinSlots = 4096;

  struct Slot {
    std::int32_t column = 0, generation = 0;
  };
  static std::uint64_t hash(std::int32_t column) { return static_cast<std::uint32_t>(column) * kHash >> 16; }

  std::vector<Slot> slots_;
  std::int64_t half_, held_ = 0;
  std::int32_t now_ = 2;
  int skip_ = 0;  ///< one in 2^skip columns is sampled
};

}  // namespace sptile::runtime
