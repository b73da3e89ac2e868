// A plan as a bundle keeps it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sptile::runtime {

/// What dividing the work of a kernel gave: some numbers, and the bytes that its launches read. As they come
/// out of a bundle they may be anything.
struct StoredSchedule {
  std::span<const std::int64_t> numbers;
  std::span<const std::byte> bytes;  ///< from a multiple of 64 on
};

/// Borrows from the bundle.
struct StoredPlan {
  std::string_view name;  ///< its group: "/plans/0001"
  /// All that a plan must agree in to be this one: lines "name value", see plan/plan_key.hpp. Printable.
  std::string_view key;
  StoredSchedule schedule;
  std::uint64_t numbers_hash = 0, bytes_hash = 0;  ///< XXH3-64, as the table of the bundle has them

  /// The value of a line of the key; empty when there is none.
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
