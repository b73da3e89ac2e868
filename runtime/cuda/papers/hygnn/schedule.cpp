#include "runtime/cuda/papers/hygnn/schedule.hpp"

#include <string>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/families/update/schedule.hpp"

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

std::int64_t hygnn_aggregate_bytes(std::int64_t n) {
  return std::int64_t{kWindowRows} * window_stride(n) * static_cast<std::int64_t>(sizeof(float));
}

Status check_hygnn_update(std::int64_t n, std::int64_t other, const DeviceInfo& device) {
  constexpr std::int64_t kMaxColumns = 1 << 20;  // more never fit, and their bytes would overflow
  const auto available = static_cast<std::int64_t>(device.shared_per_block);
  if (n <= kMaxColumns && hygnn_aggregate_bytes(n) + other <= available) return {};
  return fail(Errc::unsupported, "16 aggregated rows of " + std::to_string(n) +
                                     " columns need more than the " + std::to_string(available) +
                                     " bytes of shared memory per block of " + device.name +
                                     "; use cuda.hc_window.update2");
}

}  // namespace sptile::runtime::cuda
