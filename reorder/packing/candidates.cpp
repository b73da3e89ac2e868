#include "reorder/packing/candidates.hpp"

#include <algorithm>

namespace sptile::reorder {
namespace {

constexpr std::size_t kBlock = 64;  // slots per vectorized block

/// Calls take(slot, density) in order for slots from `begin` on with density(slot) > `min`, which `take`
/// raises. Blocks of densities are vectorized, and few blocks contain a candidate.
template <class Density, class Take>
void for_each_above(const float& min, std::size_t begin, std::size_t end, const Density& density,
                    const Take& take) {
  float block[kBlock];
  for (; begin < end; begin += kBlock) {
    const std::size_t count = std::min(end - begin, kBlock);
    const float before = min;
    std::int32_t any = 0;
    for (std::size_t k = 0; k < count; ++k) {
      block[k] = density(begin + k);
      any |= static_cast<std::int32_t>(block[k] > before);
    }
    if (any == 0) continue;
    for (std::size_t k = 0; k < count; ++k)
      if (block[k] > min) [[unlikely]]
        take(begin + k, block[k]);
  }
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
  used_ = kFirst;
}

std::int64_t Candidates::share(std::span<const std::int32_t> rows, std::span<const std::int32_t> size) {
  if (const std::size_t capacity = static_cast<std::size_t>(used_) + rows.size() + 1; capacity > row_.size())
    for (auto* const by_slot : {&row_, &size_, &missing_}) by_slot->resize(2 * capacity);
  std::int32_t next = used_;
  for (const std::int32_t row : rows) {
    const std::int32_t had = slot_[static_cast<std::size_t>(row)];
    const std::int32_t slot = had == kUnseen ? next : had;
    slot_[static_cast<std::size_t>(row)] = slot;
    row_[static_cast<std::size_t>(next)] = row;
    next += had == kUnseen;
    --missing_[static_cast<std::size_t>(slot)];
  }
  missing_[kGone] = kTooMany;
  std::int64_t free_rows = 0;
  for (; used_ < next; ++used_) {
    const auto s = static_cast<std::size_t>(used_);
    const std::int32_t row = row_[s], entries = size[static_cast<std::size_t>(row)];
    const bool free = entries > 0;
    slot_[static_cast<std::size_t>(row)] = free ? used_ : kGone;
    row_[s] = free ? row : kNoRow;
    size_[s] = entries;
    missing_[s] += free ? entries : kTooMany;
    free_rows += free;
  }
  return free_rows;
}

void Candidates::remove(std::int32_t row) {
  std::int32_t& slot = slot_[static_cast<std::size_t>(row)];
  empty_slot(slot);
  slot = kGone;
}

std::int32_t Candidates::densest(std::int64_t entries, std::int64_t columns, bool whole_blocks) const {
  // 32-bit numbers suffice: only the comparison matters, and windows never have 2^31 columns.
  const auto have = static_cast<float>(entries);
  const auto distinct = static_cast<std::int32_t>(std::min<std::int64_t>(columns, kTooMany));
  const std::int32_t up = whole_blocks ? 7 : 0;
  float max = 0;
  std::size_t found = kUnseen;
  for_each_above(
      max, kFirst, static_cast<std::size_t>(used_),
      [&, size = size_.data(), missing = missing_.data()](std::size_t s) {
        return packing::density(have, distinct, size[s], missing[s], up);
      },
      [&](std::size_t s, float density) { max = density, found = s; });
  return row_[found];
}

void Candidates::promising(std::size_t max, std::int64_t entries, std::int64_t columns, float per_shared,
                           std::vector<std::int32_t>& rows) {
  best_.assign(max, {0, kUnseen});
  const auto have = static_cast<float>(entries), distinct = static_cast<float>(columns);
  for_each_above(
      best_.back().density, kFirst, static_cast<std::size_t>(used_),
      [=, size = size_.data(), missing = missing_.data()](std::size_t s) {
        return packing::promise(have, distinct, size[s], missing[s], per_shared);
      },
      [&](std::size_t s, float density) {
        if (row_[s] != kNoRow) insert({density, static_cast<std::int32_t>(s)});
      });
  rows.clear();
  for (const Ranked& ranked : best_)
    if (ranked.slot != kUnseen) rows.push_back(row_[static_cast<std::size_t>(ranked.slot)]);
}

/// Inserts after equally good candidates; drops the last one.
void Candidates::insert(Ranked ranked) {
  std::size_t place = best_.size() - 1;
  for (; place > 0 && best_[place - 1].density < ranked.density; --place) best_[place] = best_[place - 1];
  best_[place] = ranked;
}

std::int32_t Candidates::most_shared() const {
  const auto slots = static_cast<std::size_t>(used_);
  std::int32_t max = 0;
  for (std::size_t i = 0; i < slots; ++i) max = std::max(max, size_[i] - missing_[i]);
  std::size_t i = 0;
  while (max > 0 && size_[i] - missing_[i] != max) ++i;
  return row_[i];
}

}  // namespace sptile::reorder
