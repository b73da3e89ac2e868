// Set of positions in a division: the rows that a part needs of others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"

namespace sptile::tools {

inline constexpr std::int64_t kBitsPerWord = 64;

[[nodiscard]] inline std::int64_t words_for(std::int64_t places) {
  return (places + kBitsPerWord - 1) / kBitsPerWord;
}

/// A list for sparse sets, otherwise a bitmap: at most 4 bytes per element, and at most 1/8 byte per possible
/// position.
class PlaceSet {
 public:
  PlaceSet() = default;
  /// Creates the set of positions whose bits are set.
  explicit PlaceSet(std::span<const std::uint64_t> bits);

  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Returns the set of to[position] for each position; `to` is a permutation of all positions.
  [[nodiscard]] PlaceSet moved(std::span<const std::int32_t> to) const;

  /// Calls visit(position) for positions in [first, last), ascending.
  template <class Visit>
  void each(std::int64_t first, std::int64_t last, const Visit& visit) const;
  [[nodiscard]] std::int64_t count(std::int64_t first, std::int64_t last) const {
    std::int64_t found = 0;
    each(first, last, [&](std::int64_t) { ++found; });
    return found;
  }

 private:
  std::int64_t size_ = 0;
  std::vector<std::int32_t> list_;
  std::vector<std::uint64_t> bits_;
};

template <class Visit>
void PlaceSet::each(std::int64_t first, std::int64_t last, const Visit& visit) const {
  if (bits_.empty()) {
    for (auto at = std::lower_bound(list_.begin(), list_.end(), first); at != list_.end() && *at < last; ++at)
      visit(std::int64_t{*at});
    return;
  }
  for (std::int64_t w = first / kBitsPerWord; w < words_for(last); ++w) {
    std::uint64_t word = bits_[static_cast<std::size_t>(w)];
    if (w == first / kBitsPerWord) word &= ~std::uint64_t{0} << (first % kBitsPerWord);
    for (; word != 0; word &= word - 1) {
      const std::int64_t place = w * kBitsPerWord + std::countr_zero(word);
      if (place >= last) return;
      visit(place);
    }
  }
}

/// Returns the rank of a position in a set in O(1). 3/16 byte per possible position.
class PlaceRanks {
 public:
  PlaceRanks(const PlaceSet& set, std::int64_t places);
  /// Returns the rank of a position that is in the set.
  [[nodiscard]] std::int32_t rank(std::int64_t place) const {
    const std::int64_t w = place / kBitsPerWord;
    const std::uint64_t below = bits_[w] & ((std::uint64_t{1} << (place % kBitsPerWord)) - 1);
    return before_[w] + std::popcount(below);
  }

 private:
  formats::Buffer<std::uint64_t> bits_;
  formats::Buffer<std::int32_t> before_;
};

}  // namespace sptile::tools
