#include "runtime/cuda/tile/libra_schedule.hpp"

#include "runtime/cuda/csr/schedule.hpp"
#include "runtime/cuda/device/schedule_parts.hpp"

namespace sptile::runtime::cuda {

ResidualRows residual_rows(const formats::LibraView& a) {
  constexpr std::int64_t kWindowRows = 8;
  ResidualRows rows;
  rows.entries.push_back(0);
  if (a.residual_col_id.empty()) return rows;
  std::size_t next = 0;  // of the rows with residual entries
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const auto window = static_cast<std::size_t>(row / kWindowRows);
    const bool has_tiles = a.row_window_offset[window] < a.row_window_offset[window + 1];
    const bool has_entries = next < a.residual_row_id.size() && a.residual_row_id[next] == row;
    if (has_entries) ++next;
    if (has_tiles && !has_entries) continue;
    const auto id = static_cast<std::int32_t>(row);
    rows.ids.push_back(has_tiles ? ~id : id);
    rows.entries.push_back(a.residual_row_offset[next]);
  }
  return rows;
}

Schedule schedule_residual(const formats::LibraView& a, DType dense, std::int64_t n,
                           const DeviceInfo& device) {
  const ResidualRows rows = residual_rows(a);
  Schedule schedule = csr_schedule({rows.entries}, dense, n, device);
  schedule.numbers[kRowIdsAt] = append(schedule, rows.ids);
  schedule.numbers[kRowEntriesAt] = append(schedule, rows.entries);
  return schedule;
}

}  // namespace sptile::runtime::cuda
