#include <algorithm>
#include <string>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/collective/direct_schedule.hpp"
#include "runtime/cuda/families/csr/resident.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr std::int64_t kRowCost = ResidentPolicy{}.row_cost, kStep = ResidentPolicy{}.step;

/// Cumulative work of rows, in entries, and its inverse.
class Work {
 public:
  explicit Work(std::span<const std::int64_t> row_ptr) : row_ptr_(row_ptr) {}

  [[nodiscard]] std::int64_t rows() const { return std::ssize(row_ptr_) - 1; }
  [[nodiscard]] std::int64_t entry(std::int64_t row) const { return row_ptr_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] std::int64_t before(std::int64_t row) const { return entry(row) + kRowCost * row; }
  /// Returns the last of the rows [first, last] with at most `work` before it.
  [[nodiscard]] std::int64_t row_at(std::int64_t first, std::int64_t last, std::int64_t work) const {
    while (first < last) {
      const std::int64_t middle = first + (last - first + 1) / 2;
      if (before(middle) <= work)
        first = middle;
      else
        last = middle - 1;
    }
    return first;
  }
  /// Returns the start in rows [first, last] whose work is nearest to `work`.
  [[nodiscard]] ResidentStart start_at(std::int64_t first, std::int64_t last, std::int64_t work) const {
    const std::int64_t row = row_at(first, last, work), begin = entry(row);
    if (row == last) return {begin, row};
    const std::int64_t wanted = std::min(begin + work - before(row), entry(row + 1));
    return {begin + (wanted - begin) / kStep * kStep, row};
  }

 private:
  std::span<const std::int64_t> row_ptr_;
};

/// Parts consist of complete rows; their warps may begin within a row of more than kStep entries.
std::vector<ResidentStart> divide(const Work& work, std::int64_t parts) {
  const std::int64_t rows = work.rows(), all = work.before(rows);
  std::vector<ResidentStart> starts;
  starts.reserve(static_cast<std::size_t>(parts * kResidentWarps + 1));
  std::int64_t first = 0;
  for (std::int64_t part = 1; part <= parts; ++part) {
    const std::int64_t wanted = all / parts * part;
    std::int64_t last = part < parts ? work.row_at(first, rows, wanted) : rows;
    if (last < rows && work.before(last + 1) - wanted < wanted - work.before(last)) ++last;
    const std::int64_t before = work.before(first), share = work.before(last) - before;
    for (std::int64_t warp = 0; warp < kResidentWarps; ++warp)
      starts.push_back(work.start_at(first, last, before + share * warp / kResidentWarps));
    first = last;
  }
  starts.push_back({work.entry(rows), rows});
  return starts;
}

ResidentHeader header_of(const ScheduleRequest& request, DType dense) {
  ResidentHeader header;
  header.lines = std::max(resident_lines(request.format.cols, request.n, dense, request.device), 1);
  const std::int64_t columns = resident_columns(header.lines, dense);
  const std::int64_t slices = (request.n + columns - 1) / columns;
  header.parts = std::clamp<std::int64_t>(request.device.sm_count / slices, 1,
                                          std::max<std::int64_t>(request.format.rows, 1));
  return header;
}

std::vector<ResidentStart> starts_of(const ScheduleRequest& request, const ResidentHeader& header) {
  return divide(Work(formats::as_csr(request.format).row_ptr), header.parts);
}

}  // namespace

int resident_lines(std::int64_t rows, std::int64_t n, DType dense, const DeviceInfo& device) {
  const auto room = static_cast<std::int64_t>(device.shared_per_block);
  const auto fits = [&](int lines) { return rows < room && resident_bytes(rows, lines, dense) <= room; };
  if (!fits(1)) return 0;
  return n >= resident_columns(2, dense) && fits(2) ? 2 : 1;
}

Status check_resident(const ServiceRequest& request, DType dense) {
  if (Status s = check_one_head(request); !s) return s;
  if (resident_lines(request.cols, request.n, dense, request.device) > 0) return {};
  const std::int64_t most =
      (static_cast<std::int64_t>(request.device.shared_per_block) - resident_bytes(0, 1, dense)) /
      kResidentLine;
  return fail(Errc::unsupported, std::string(kCsrResident) + " supports matrices of up to " +
                                     std::to_string(std::max<std::int64_t>(most, 0)) +
                                     " columns on this device, got " + std::to_string(request.cols));
}

Schedule resident_schedule(const ScheduleRequest& request, DType dense) {
  ResidentHeader header = header_of(request, dense);
  Schedule schedule;
  header.starts_at = append(schedule, starts_of(request, header));
  schedule.header.set(header);
  return schedule;
}

std::int64_t resident_least_n(const ResidentHeader& header, std::int64_t n, DType dense) {
  const std::int64_t columns = resident_columns(header.lines, dense);
  return std::max((n - 1) / columns * columns + 1, header.lines == 2 ? columns : 1);
}

Result<Schedule> read_resident(const ScheduleRequest& request, const StoredSchedule& stored, DType dense) {
  return restore_schedule(stored, [&](ScheduleReader& reader, Schedule& /*schedule*/) {
    ResidentHeader header = header_of(request, dense);
    reader.expect(starts_of(request, header), header.starts_at, "a warp starts at a wrong entry");
    return header;
  });
}

}  // namespace sptile::runtime::cuda
