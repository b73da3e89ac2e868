#include "tools/partition/place_set.hpp"

namespace sptile::tools {
namespace {

constexpr std::int64_t kListBits = 32;  // bits per position in a list

}  // namespace

PlaceSet::PlaceSet(std::span<const std::uint64_t> bits) {
  for (const std::uint64_t word : bits) size_ += std::popcount(word);
  if (size_ * kListBits > std::ssize(bits) * kBitsPerWord) {
    bits_.assign(bits.begin(), bits.end());
    return;
  }
  list_.reserve(static_cast<std::size_t>(size_));
  for (std::size_t w = 0; w < bits.size(); ++w)
    for (std::uint64_t word = bits[w]; word != 0; word &= word - 1)
      list_.push_back(
          static_cast<std::int32_t>(static_cast<std::int64_t>(w) * kBitsPerWord + std::countr_zero(word)));
}

PlaceSet PlaceSet::moved(std::span<const std::int32_t> to) const {
  PlaceSet result;
  result.size_ = size_;
  result.bits_.resize(bits_.size());
  result.list_.reserve(list_.size());
  each(0, std::ssize(to), [&](std::int64_t place) {
    const std::int32_t at = to[static_cast<std::size_t>(place)];
    if (bits_.empty())
      result.list_.push_back(at);
    else
      result.bits_[static_cast<std::size_t>(at / kBitsPerWord)] |= std::uint64_t{1} << (at % kBitsPerWord);
  });
  std::ranges::sort(result.list_);
  return result;
}

PlaceRanks::PlaceRanks(const PlaceSet& set, std::int64_t places)
    : bits_(words_for(places)), before_(words_for(places)) {
  std::fill(bits_.begin(), bits_.end(), 0);
  set.each(0, places, [&](std::int64_t place) {
    bits_[place / kBitsPerWord] |= std::uint64_t{1} << (place % kBitsPerWord);
  });
  std::int32_t sum = 0;
  for (std::int64_t w = 0; w < bits_.size(); ++w) {
    before_[w] = sum;
    sum += std::popcount(bits_[w]);
  }
}

}  // namespace sptile::tools
