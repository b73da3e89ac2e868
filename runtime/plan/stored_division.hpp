// Stored division of work of CPU plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/core/stored_plan.hpp"
#include "runtime/cpu/units.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// Version of the stored data and of everything that is computed from it.
inline constexpr std::uint32_t kDivisionVersion = 1;

/// Numbers and bytes of a stored plan, see StoredSchedule.
struct DivisionToStore {
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> bytes;
};

/// Input of a division: a checked matrix, n columns, and threads, which divisions by columns ignore.
struct DivisionRequest {
  const Operation& op;
  const formats::FormatView& format;
  std::int64_t n = 0;
  int threads = 1;
};

/// Divides the work.
WorkPlan divide(const DivisionRequest& request);

/// Divides the work and returns the data to store: empty if only one division exists.
DivisionToStore division_to_store(const DivisionRequest& request);

/// Restores a division from unverified bytes. Errc::bad_input, with the cause, unless its chunks compute each
/// element of the result exactly once. O(units + chunks).
Result<WorkPlan> restore_division(const DivisionRequest& request, const StoredSchedule& stored);

}  // namespace sptile::runtime
