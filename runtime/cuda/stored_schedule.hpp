// How schedules come back from where they were stored. What is read may be anything: nothing of it is used
// before it is proven. A family stores the fewest numbers that it can; whatever follows from the matrix, N
// and the device is worked out again, and what the bytes say is compared with the matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/schedule.hpp"

namespace sptile::runtime::cuda {

/// Reads the parts of a schedule in the order in which they were appended. The first thing that is wrong is
/// remembered; from then on all numbers are the least and all parts are empty.
class ScheduleReader {
 public:
  explicit ScheduleReader(const StoredSchedule& stored) : stored_(stored) {}

  /// The next number, which is not above `most`.
  std::int64_t number(std::int64_t most);

  /// The next part: so many elements. `at` becomes its offset.
  template <class T>
  std::span<const T> part(std::int64_t count, std::int64_t& at) {
    const std::byte* const begin = take(count, sizeof(T), at);
    return {reinterpret_cast<const T*>(begin), begin == nullptr ? 0 : static_cast<std::size_t>(count)};
  }

  /// The next part, which must be as given.
  template <class T>
  void expect(const std::vector<T>& part, std::int64_t& at, std::string_view what) {
    require(std::ranges::equal(this->part<T>(std::ssize(part), at), part), what);
  }

  /// Says what must be true; gives what is.
  bool require(bool holds, std::string_view what);
  [[nodiscard]] bool ok() const { return wrong_.empty(); }

  /// Verifies that nothing is left; Errc::bad_input with what was wrong first.
  Status finish();

 private:
  const std::byte* take(std::int64_t count, std::size_t size, std::int64_t& at);

  StoredSchedule stored_;
  std::size_t next_number_ = 0, end_ = 0;  ///< of the numbers and bytes that were read
  std::string wrong_;
};

/// Notes which of so many things have an owner: each must have one, and only one.
class Owners {
 public:
  explicit Owners(std::int64_t count) : count_(count), owned_((static_cast<std::size_t>(count) + 63) / 64) {}

  /// Takes [begin, end); false when some are not there or have an owner.
  bool take(std::int64_t begin, std::int64_t end);
  [[nodiscard]] bool complete() const { return taken_ == count_; }

 private:
  std::int64_t count_, taken_ = 0;
  std::vector<std::uint64_t> owned_;
};

/// Restores a schedule: `read` reads the parts and gives the header.
template <class Read>
Result<Schedule> restore_schedule(const StoredSchedule& stored, const Read& read) {
  ScheduleReader reader(stored);
  Schedule schedule{.bytes = {}, .borrowed = stored.bytes, .header = {}};
  schedule.header.set(read(reader, schedule));
  if (Status s = reader.finish(); !s) return tl::unexpected(s.error());
  return schedule;
}

/// Functions of the kernel table of an instance whose schedules are stored. The instance has
///   static Header append(Schedule& schedule, const ScheduleRequest& request);
///   static Header read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request);
/// kNumbers returns the numbers that are stored of a header, kVersion their version.
template <class Instance, class Header, std::uint32_t kVersion,
          std::vector<std::int64_t> (*kNumbers)(const Header&)>
struct StoredInstance {
  static Schedule schedule(const ScheduleRequest& request) {
    Schedule schedule;
    schedule.header.set(Instance::append(schedule, request));
    return schedule;
  }
  static std::vector<std::int64_t> numbers(const ScheduleHeader& header) {
    return kNumbers(header.as<Header>());
  }
  static Result<Schedule> restore(const ScheduleRequest& request, const StoredSchedule& stored) {
    return restore_schedule(stored, [&](ScheduleReader& reader, Schedule& schedule) {
      return Instance::read(reader, schedule, request);
    });
  }
  static constexpr ScheduleStore kStore = {kVersion, numbers, restore};
};

/// So many times so many bytes.
struct Product {
  std::int64_t count, each;
};

/// As append_scratch for counters and bytes of sums; the reader fails when they take more than 2^60 bytes.
ScheduleScratch read_scratch(ScheduleReader& reader, Schedule& schedule, const Product& counters,
                             const Product& sums);

}  // namespace sptile::runtime::cuda
