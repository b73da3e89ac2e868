#include "runtime/cuda/papers/hygnn/schedule.hpp"

#include <string>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/families/update/schedule.hpp"

namespace sptile::runtime::cuda {

namespace {

HygnnHeader append_rows(Schedule& schedule, const formats::FormatView& format) {
  const formats::BlockRows rows = formats::blocks_of(format).rows;
  std::vector<std::int64_t> row_entry;
  row_entry.reserve(static_cast<std::size_t>(format.rows) + 1);
  std::size_t next = 0;
  for (std::int64_t row = 0; row <= format.rows; ++row) {
    row_entry.push_back(rows.offset[next]);
    if (next < rows.ids.size() && rows.ids[next] == row) ++next;
  }
  return {append(schedule, row_entry)};
}

constexpr std::int64_t kMaxColumns = 1 << 20;  // more never fit, and their bytes would overflow

Status fits(bool possible, const std::string& what, const DeviceInfo& device, const std::string& remedy) {
  if (possible) return {};
  return fail(Errc::unsupported, what + " more than the " + std::to_string(device.shared_per_block) +
                                     " bytes of shared memory per block of " + device.name + "; " + remedy);
}

}  // namespace

Schedule schedule_hygnn(const ScheduleRequest& request) {
  Schedule schedule;
  schedule.header.set(append_rows(schedule, request.format));
  return schedule;
}

Schedule schedule_hygnn_gradient(const ScheduleRequest& request) {
  constexpr std::int64_t kBlocksPerSm = 2;
  const std::int64_t windows = (request.format.rows + kWindowRows - 1) / kWindowRows;
  const std::int64_t most = std::max(request.device.sm_count, 1) * kBlocksPerSm;
  const std::int64_t per_block = std::max<std::int64_t>((windows + most - 1) / most, 1);
  const std::int64_t m = request.variant.m != 0 ? request.variant.m : request.n;
  Schedule schedule;
  HygnnGradientHeader header;
  header.rows = append_rows(schedule, request.format);
  header.windows_per_block = static_cast<std::int32_t>(per_block);
  header.blocks = static_cast<std::int32_t>((windows + per_block - 1) / per_block);
  header.scratch = append_scratch(
      schedule, 0, header.blocks * gradient_tiles(request.n, m) * kGradientTile * kGradientTile * 4);
  schedule.header.set(header);
  return schedule;
}

std::int64_t hygnn_aggregate_bytes(std::int64_t n) {
  return std::int64_t{kWindowRows} * window_stride(n) * static_cast<std::int64_t>(sizeof(float));
}

Status check_hygnn_update(std::int64_t n, std::int64_t other, const DeviceInfo& device) {
  const auto available = static_cast<std::int64_t>(device.shared_per_block);
  return fits(n <= kMaxColumns && hygnn_aggregate_bytes(n) + other <= available,
              "16 aggregated rows of " + std::to_string(n) + " columns need", device,
              "use cuda.hc_window.update2");
}

Status check_hygnn_gradient(const HygnnGradientShape& shape, std::int64_t other, const DeviceInfo& device) {
  const auto available = static_cast<std::int64_t>(device.shared_per_block);
  const bool possible = shape.n <= kMaxColumns && shape.m <= kMaxColumns &&
                        shape.size() * static_cast<std::int64_t>(sizeof(float)) + other <= available;
  return fits(possible,
              "sums of " + std::to_string(shape.n) + " x " + std::to_string(shape.m) + " weights need",
              device, "use spmm_update and update_gradient");
}

}  // namespace sptile::runtime::cuda
