#include "reorder/candidates.hpp"

#include <algorithm>

namespace sptile::reorder {
namespace {

constexpr std::size_t kLanes = 8;            // rows compared at once
constexpr std::size_t kBlock = 32 * kLanes;  // rows between two looks at the lanes
constexpr std::int32_t kTooMany = 1 << 30;   // missing columns of a slot without a row

/// Entries per column after row i has come. 32-bit numbers throughout: only the comparison matters, and a
/// window that passes 2^31 columns does not exist.
template <bool kWholeBlocks>
float density(float entries, std::int32_t columns, std::int32_t size, std::int32_t missing) {
  const std::int32_t after = kWholeBlocks ? (columns + missing + 7) & ~7 : columns + missing;
  return (entries + static_cast<float>(size)) / static_cast<float>(after);
}

template <bool kWholeBlocks>
std::size_t find_densest(const std::int32_t* size, const std::int32_t* missing, std::size_t slots,
                         float entries, std::int32_t columns) {
  float best = 0;
  std::size_t best_block = 0;
  for (std::size_t begin = 0; begin < slots; begin += kBlock) {
    const std::size_t end = std::min(slots, begin + kBlock);
    float lane[kLanes] = {};
    std::size_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) {
        const float d = density<kWholeBlocks>(entries, columns, size[i + k], missing[i + k]);
        lane[k] = d > lane[k] ? d : lane[k];
      }
    for (; i < end; ++i)
      lane[0] = std::max(lane[0], density<kWholeBlocks>(entries, columns, size[i], missing[i]));
    const float most = *std::max_element(lane, lane + kLanes);
    if (most > best) best = most, best_block = begin;
  }
  std::size_t i = best_block;
  while (i < slots && density<kWholeBlocks>(entries, columns, size[i], missing[i]) != best) ++i;
  return i;
}

}  // namespace

void Candidates::clear() {
  row_.assign(2, kNoRow);
  size_.assign(2, 0);
  missing_.assign(2, kTooMany);
}

std::int32_t Candidates::add(std::int32_t row, std::int32_t size) {
  row_.push_back(row);
  size_.push_back(size);
  missing_.push_back(size);
  return slots() - 1;
}

void Candidates::remove(std::int32_t slot) {
  const auto s = static_cast<std::size_t>(slot);
  row_[s] = kNoRow, size_[s] = 0, missing_[s] = kTooMany;
}

std::int32_t Candidates::densest(std::int64_t entries, std::int64_t columns, bool whole_blocks) const {
  const auto find = whole_blocks ? find_densest<true> : find_densest<false>;
  const std::size_t slot = find(size_.data(), missing_.data(), row_.size(), static_cast<float>(entries),
                                static_cast<std::int32_t>(std::min<std::int64_t>(columns, kTooMany)));
  return slot < row_.size() && row_[slot] != kNoRow ? static_cast<std::int32_t>(slot) : 0;
}

void Candidates::keep_best(std::size_t most) {
  const auto better = [](const Ranked& x, const Ranked& y) {
    return x.density != y.density ? x.density > y.density : x.slot < y.slot;
  };
  const std::size_t kept = std::min(most, ranked_.size());
  std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(kept), ranked_.end(),
                    better);
  ranked_.resize(kept);
}

void Candidates::promising(std::size_t most, std::int64_t entries, std::int64_t columns, float per_counted,
                           std::vector<std::int32_t>& slots) {
  ranked_.clear();
  float least = 0;  // what a row must exceed once there are enough
  float density[kBlock];
  const auto have = static_cast<float>(entries), distinct = static_cast<float>(columns);
  for (std::size_t begin = 0; begin < row_.size(); begin += kBlock) {
    const std::size_t count = std::min(row_.size() - begin, kBlock);
    for (std::size_t k = 0; k < count; ++k) {
      const auto size = static_cast<float>(size_[begin + k]);
      const float shared = static_cast<float>(size_[begin + k] - missing_[begin + k]) * per_counted;
      density[k] = (have + size) / (distinct + size - std::min(shared, size));
    }
    for (std::size_t k = 0; k < count; ++k)
      if (density[k] > least && row_[begin + k] != kNoRow)
        ranked_.push_back({density[k], static_cast<std::int32_t>(begin + k)});
    if (ranked_.size() < 4 * most) continue;
    keep_best(most);
    least = ranked_.back().density;
  }
  keep_best(most);
  slots.clear();
  for (const Ranked& ranked : ranked_) slots.push_back(ranked.slot);
}

std::int32_t Candidates::most_shared() const {
  std::int32_t most = 0;
  for (std::size_t i = 0; i < row_.size(); ++i) most = std::max(most, size_[i] - missing_[i]);
  std::size_t i = 0;
  while (most > 0 && size_[i] - missing_[i] != most) ++i;
  return static_cast<std::int32_t>(i);
}

}  // namespace sptile::reorder
