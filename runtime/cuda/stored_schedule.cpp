#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

std::int64_t ScheduleReader::number(std::int64_t max) {
  if (!ok() || !require(next_number_ < stored_.numbers.size(), "a number of the schedule is missing"))
    return 0;
  const std::int64_t number = stored_.numbers[next_number_++];
  if (number >= 0 && number <= max) return number;
  require(false, "number " + std::to_string(next_number_ - 1) + " is " + std::to_string(number) +
                     ", expected 0 to " + std::to_string(max));
  return 0;
}

const std::byte* ScheduleReader::take(std::int64_t count, std::size_t size, std::int64_t& at) {
  const std::size_t begin = schedule_aligned(end_), all = stored_.bytes.size();
  if (!ok()) return nullptr;
  if (!require(begin <= all && static_cast<std::uint64_t>(count) <= (all - begin) / size,
               "a part exceeds the " + std::to_string(all) + " bytes of the schedule"))
    return nullptr;
  const auto gap = stored_.bytes.subspan(end_, begin - end_);
  require(std::ranges::all_of(gap, [](std::byte b) { return b == std::byte{0}; }), "a gap is not zero");
  at = static_cast<std::int64_t>(begin);
  end_ = begin + static_cast<std::size_t>(count) * size;
  return stored_.bytes.data() + begin;
}

bool ScheduleReader::require(bool holds, std::string_view what) {
  if (!holds && ok()) wrong_ = what;
  return holds;
}

Status ScheduleReader::finish() {
  require(next_number_ == stored_.numbers.size(), "unexpected numbers after the last one");
  require(end_ == stored_.bytes.size(), "unexpected bytes after the last part");
  if (ok()) return {};
  return fail(Errc::bad_input, wrong_);
}

bool Owners::take(std::int64_t begin, std::int64_t end) {
  if (begin < 0 || begin > end || end > count_) return false;
  taken_ += end - begin;
  bool free = true;
  for (std::int64_t next = 0; begin < end; begin = next) {  // the part in each word
    next = std::min(end, (begin / 64 + 1) * 64);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - (next - begin)) << begin % 64;
    std::uint64_t& word = owned_[static_cast<std::size_t>(begin / 64)];
    free &= (word & mask) == 0;
    word |= mask;
  }
  return free;
}

namespace {

/// Multiplies; returns a negative number on overflow of the memory size.
std::int64_t multiply(const Product& product) {
  constexpr std::int64_t kMax = std::int64_t{1} << 58;
  std::int64_t result = 0;
  const bool fits = !__builtin_mul_overflow(product.count, product.each, &result) && result <= kMax;
  return fits ? result : -1;
}

}  // namespace

ScheduleScratch read_scratch(ScheduleReader& reader, Schedule& schedule, const Product& counters,
                             const Product& sums) {
  const std::int64_t count = multiply(counters), bytes = multiply(sums);
  if (!reader.require(count >= 0 && bytes >= 0, "its sums exceed the address space")) return {};
  return append_scratch(schedule, count, bytes);
}

}  // namespace sptile::runtime::cuda
