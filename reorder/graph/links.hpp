// Weighted links between communities: their sums and their memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "formats/core/buffer.hpp"

namespace sptile::reorder {

/// Adds weights; the sum stays at the maximum instead of overflowing, so that it does not depend on the order
/// of the additions.
inline std::uint32_t add_clamped(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t sum = x + y;
  return sum < x ? std::numeric_limits<std::uint32_t>::max() : sum;
}

/// Weighted edge to a community.
struct Link {
  std::int32_t to;
  std::uint32_t weight;
};

/// Sums links by community, in order of first appearance.
class LinkTable {
 public:
  void reset(std::size_t max_links) {
    links_.clear();
    hashed_ = max_links > kSearchedLinks;
    if (!hashed_) return;
    const auto slots = std::bit_ceil(2 * max_links);
    if (slots > slots_.size()) slots_.resize(slots);
    std::fill_n(slots_.begin(), slots, 0u);
    shift_ = 32 - std::countr_zero(slots);
  }

  void add(std::int32_t to, std::uint32_t weight) {
    if (!hashed_) {
      for (Link& link : links_)
        if (link.to == to) {
          link.weight = add_clamped(link.weight, weight);
          return;
        }
      links_.push_back({to, weight});
      return;
    }
    const std::size_t mask = (std::size_t{1} << (32 - shift_)) - 1;
    std::size_t at = static_cast<std::uint32_t>(to) * 0x9e3779b1u >> shift_;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      Link& link = links_[slots_[at] - 1];
      if (link.to != to) continue;
      link.weight = add_clamped(link.weight, weight);
      return;
    }
    links_.push_back({to, weight});
    slots_[at] = static_cast<std::uint32_t>(links_.size());
  }

  [[nodiscard]] const std::vector<Link>& links() const { return links_; }

 private:
  static constexpr std::size_t kSearchedLinks = 12;  // up to this size a linear search is faster

  std::vector<Link> links_;
  std::vector<std::uint32_t> slots_;  // index of a link + 1; 0: free
  int shift_ = 0;
  bool hashed_ = false;
};

/// Memory for link lists, allocated in chunks.
class LinkArena {
 public:
  Link* allocate(std::int64_t count, std::int64_t chunk) {
    if (count > free_) {
      free_ = std::max(count, chunk);
      next_ = chunks_.emplace_back(free_).data();
      allocated_ += free_;
    }
    free_ -= count;
    return std::exchange(next_, next_ + count);
  }
  [[nodiscard]] std::int64_t allocated() const { return allocated_; }

 private:
  std::vector<formats::Buffer<Link>> chunks_;
  Link* next_ = nullptr;
  std::int64_t free_ = 0;
  std::int64_t allocated_ = 0;
};

}  // namespace sptile::reorder
