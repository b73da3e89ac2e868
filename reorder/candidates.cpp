#include "reorder/candidates.hpp"

#include <algorithm>
#include <functional>

namespace sptile::reorder {
namespace {

constexpr std::size_t kLanes = 8;            // rows compared at once
constexpr std::size_t kBlock = 32 * kLanes;  // rows between two looks at the lanes

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

Candidates::Candidates(std::int64_t rows) : slot_(static_cast<std::size_t>(rows), kUnseen) {
  for (auto* const by_slot : {&row_, &size_, &missing_}) by_slot->resize(kBlock);
  empty_slot(kUnseen);
  empty_slot(kGone);
}

void Candidates::empty_slot(std::int32_t slot) {
  const auto s = static_cast<std::size_t>(slot);
  row_[s] = kNoRow, size_[s] = 0, missing_[s] = kTooMany;
}

void Candidates::clear() {
  for (std::int32_t slot = kFirst; slot < used_; ++slot)
    if (const std::int32_t row = row_[static_cast<std::size_t>(slot)]; row != kNoRow)
      slot_[static_cast<std::size_t>(row)] = kUnseen;
  std::fill(missing_.begin() + kFirst, missing_.begin() + used_, 0);
  used_ = settled_ = kFirst;
}

void Candidates::share(std::span<const std::int32_t> rows) {
  if (const std::size_t room = static_cast<std::size_t>(used_) + rows.size() + 1; room > row_.size())
    for (auto* const by_slot : {&row_, &size_, &missing_}) by_slot->resize(2 * room);
  std::int32_t next = used_;
  for (const std::int32_t row : rows) {
    std::int32_t& slot = slot_[static_cast<std::size_t>(row)];
    const bool fresh = slot == kUnseen;
    slot = fresh ? next : slot;
    row_[static_cast<std::size_t>(next)] = row;
    next += fresh;
    --missing_[static_cast<std::size_t>(slot)];
  }
  used_ = next;
  missing_[kGone] = kTooMany;
}

std::int64_t Candidates::settle(std::span<const std::int32_t> size) {
  std::int64_t met = 0;
  for (; settled_ < used_; ++settled_) {
    const auto s = static_cast<std::size_t>(settled_);
    const auto row = static_cast<std::size_t>(row_[s]);
    size_[s] = size[row];
    missing_[s] += size_[s];
    if (size_[s] > 0) {
      ++met;
    } else {
      slot_[row] = kGone;
      empty_slot(settled_);
    }
  }
  return met;
}

void Candidates::remove(std::int32_t row) {
  std::int32_t& slot = slot_[static_cast<std::size_t>(row)];
  empty_slot(slot);
  slot = kGone;
}

std::int32_t Candidates::densest(std::int64_t entries, std::int64_t columns, bool whole_blocks) const {
  const auto find = whole_blocks ? find_densest<true> : find_densest<false>;
  const auto slots = static_cast<std::size_t>(used_);
  const std::size_t slot = find(size_.data(), missing_.data(), slots, static_cast<float>(entries),
                                static_cast<std::int32_t>(std::min<std::int64_t>(columns, kTooMany)));
  return slot < slots ? row_[slot] : kNoRow;
}

/// Keeps the best ones, in no order.
void Candidates::keep_best(std::size_t most) {
  if (ranked_.size() <= most) return;
  std::nth_element(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(most - 1), ranked_.end(),
                   std::greater<>());
  ranked_.resize(most);
}

void Candidates::promising(std::size_t most, std::int64_t entries, std::int64_t columns, float per_shared,
                           std::vector<std::int32_t>& rows) {
  ranked_.clear();
  float least = 0;  // what a row must exceed once there are enough
  float density[kBlock];
  const auto have = static_cast<float>(entries), distinct = static_cast<float>(columns);
  const auto slots = static_cast<std::size_t>(used_);
  for (std::size_t begin = kFirst; begin < slots; begin += kBlock) {
    const std::size_t count = std::min(slots - begin, kBlock);
    for (std::size_t k = 0; k < count; ++k) {
      const auto size = static_cast<float>(size_[begin + k]);
      const float shared = static_cast<float>(size_[begin + k] - missing_[begin + k]) * per_shared;
      density[k] = (have + size) / (distinct + size - std::min(shared, size));
    }
    for (std::size_t k = 0; k < count; ++k)
      if (density[k] > least && row_[begin + k] != kNoRow)
        ranked_.push_back({density[k], static_cast<std::int32_t>(begin + k)});
    if (ranked_.size() < 4 * most) continue;
    keep_best(most);
    least = ranked_[most - 1].density;  // where nth_element has put the last of the best
  }
  keep_best(most);
  std::sort(ranked_.begin(), ranked_.end(), std::greater<>());
  rows.clear();
  for (const Ranked& ranked : ranked_) rows.push_back(row_[static_cast<std::size_t>(ranked.slot)]);
}

std::int32_t Candidates::most_shared() const {
  const auto slots = static_cast<std::size_t>(used_);
  std::int32_t most = 0;
  for (std::size_t i = 0; i < slots; ++i) most = std::max(most, size_[i] - missing_[i]);
  std::size_t i = 0;
  while (most > 0 && size_[i] - missing_[i] != most) ++i;
  return row_[i];
}

}  // namespace sptile::reorder
