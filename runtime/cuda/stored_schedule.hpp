// Restoring of stored schedules. Stored data may be arbitrary and is validated before use. A family stores as
// few numbers as possible; values that follow from the matrix, N and the device are recomputed, and the bytes
// are compared with the matrix.
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

/// Reads the parts of a schedule in the order in which they were appended. Records the first error;
/// afterwards all numbers are minimal and all parts empty.
class ScheduleReader {
 public:
  explicit ScheduleReader(const StoredSchedule& stored) : stored_(stored) {}

  /// Returns the next number, which must be at most `max`.
  std::int64_t number(std::int64_t max);

  /// Returns the next part, of `count` elements; `at` becomes its offset.
  template <class T>
  std::span<const T> part(std::int64_t count, std::int64_t& at) {
    const std::byte* const begin = take(count, sizeof(T), at);
    return {reinterpret_cast<const T*>(begin), begin == nullptr ? 0 : static_cast<std::size_t>(count)};
  }

  /// Reads the next part, which must equal `part`.
  template <class T>
  void expect(const std::vector<T>& part, std::int64_t& at, std::string_view what) {
    require(std::ranges::equal(this->part<T>(std::ssize(part), at), part), what);
  }

  /// Records an error unless `holds`; returns `holds`.
  bool require(bool holds, std::string_view what);
  [[nodiscard]] bool ok() const { return wrong_.empty(); }

  /// Verifies that all data were read. Errc::bad_input with the first error.
  Status finish();

 private:
  const std::byte* take(std::int64_t count, std::size_t size, std::int64_t& at);

  StoredSchedule stored_;
  std::size_t next_number_ = 0, end_ = 0;  ///< numbers and bytes read
  std::string wrong_;
};

/// Verifies that each of a number of items has exactly one owner.
class Owners {
 public:
  explicit Owners(std::int64_t count) : count_(count), owned_((static_cast<std::size_t>(count) + 63) / 64) {}

  /// Claims [begin, end); returns false if the range is invalid or an item has an owner.
  bool take(std::int64_t begin, std::int64_t end);
  [[nodiscard]] bool complete() const { return taken_ == count_; }

 private:
  std::int64_t count_, taken_ = 0;
  std::vector<std::uint64_t> owned_;
};

/// Restores a schedule: `read` reads the parts and returns the header.
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

/// Size of an array: `count` elements of `each` bytes.
struct Product {
  std::int64_t count, each;
};

/// Works like append_scratch for counters and bytes of partial sums; records an error if they exceed 2^60
/// bytes.
ScheduleScratch read_scratch(ScheduleReader& reader, Schedule& schedule, const Product& counters,
                             const Product& sums);

}  // namespace sptile::runtime::cuda
