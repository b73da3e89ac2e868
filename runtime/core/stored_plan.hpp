// Plans stored in a bundle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sptile::runtime {

/// Schedule of a kernel: header numbers, and the bytes that its launches read. Contents from a bundle are
/// unverified.
struct StoredSchedule {
  std::span<const std::int64_t> numbers;
  std::span<const std::byte> bytes;  ///< aligned to 64 bytes
};

/// A stored plan. Views point into the bundle.
struct StoredPlan {
  std::string_view name;  ///< its group, for example "/plans/0001"
  /// Properties that must match for the plan to be used, as printable lines "name value"; see
  /// plan/plan_key.hpp.
  std::string_view key;
  StoredSchedule schedule;
  std::uint64_t numbers_hash = 0, bytes_hash = 0;  ///< XXH3-64, from the table of the bundle

  /// Returns the value of a line of the key; empty if there is none.
  [[nodiscard]] std::string_view field(std::string_view line) const {
    for (std::string_view rest = key; !rest.empty();) {
      const std::string_view next = rest.substr(0, rest.find('\n'));
      if (next.starts_with(line) && next.substr(line.size()).starts_with(' '))
        return next.substr(line.size() + 1);
      rest.remove_prefix(std::min(next.size() + 1, rest.size()));
    }
    return {};
  }
};

}  // namespace sptile::runtime
