#include "runtime/cuda/papers/hygnn/schedule.hpp"

#include <vector>

#include "formats/layout/blocks.hpp"

namespace sptile::runtime::cuda {

Schedule schedule_hygnn(const ScheduleRequest& request) {
  const formats::BlockRows rows = formats::blocks_of(request.format).rows;
  std::vector<std::int64_t> row_entry;
  row_entry.reserve(static_cast<std::size_t>(request.format.rows) + 1);
  std::size_t next = 0;
  for (std::int64_t row = 0; row <= request.format.rows; ++row) {
    row_entry.push_back(rows.offset[next]);
    if (next < rows.ids.size() && rows.ids[next] == row) ++next;
  }
  Schedule schedule;
  schedule.header.set(HygnnHeader{append(schedule, row_entry)});
  return schedule;
}

}  // namespace sptile::runtime::cuda
