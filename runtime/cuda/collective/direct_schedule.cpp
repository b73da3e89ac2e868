#include "runtime/cuda/collective/direct_schedule.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr DirectPolicy kPolicy;
constexpr std::int64_t kMinTurns = kPolicy.min_turns, kMaxLaneTurns = kPolicy.max_lane_turns;

/// Returns the entries that a team processes in sequence in longer rows.
std::int64_t turns(std::int64_t entries, const DirectRequest& request, const DeviceInfo& device) {
  const std::int64_t lanes = request.shape.lanes;
  const std::int64_t room = std::int64_t{kPolicy.lanes_per_sm} * std::max(device.sm_count, 1);
  const std::int64_t share =
      entries / room * lanes * request.slices + entries % room * lanes * request.slices / room;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
      std::clamp(share + 1, kMinTurns, std::max(kMinTurns, kMaxLaneTurns * lanes)))));
}

struct Division : CsrPieces {
  std::array<std::vector<std::int32_t>, kDirectClasses> classes;  ///< by the logarithm of teams
};

/// A team with many rows of B in flight processes twice the entries before a row gets a block, which must
/// wait for the sums of its warps.
Division divide(std::span<const std::int64_t> row_ptr, const DirectHeader& header, std::int64_t turn) {
  const int lanes = header.shape.lanes;
  const std::int64_t teams = kWarpSize / lanes;  // teams per warp
  const std::int64_t of_warp = turn * teams * (header.at_once == kDirectMany ? 2 : 1);
  Division division;
  for (std::size_t r = 0; r + 1 < row_ptr.size(); ++r) {
    const std::int64_t entries = row_ptr[r + 1] - row_ptr[r];
    if (entries > of_warp) {
      division.cut(static_cast<std::int64_t>(r), row_ptr[r], entries, turn * (kDirectThreads / lanes),
                   kPolicy.piece_step);
    } else {
      const std::int64_t wanted = std::clamp<std::int64_t>((entries + turn - 1) / turn, 1, teams);
      division.classes[std::bit_width(static_cast<std::uint64_t>(wanted - 1))].push_back(
          static_cast<std::int32_t>(r));
    }
  }
  return division;
}

std::int64_t entries_of(std::span<const std::int64_t> row_ptr, std::int32_t row) {
  return row_ptr[static_cast<std::size_t>(row) + 1] - row_ptr[static_cast<std::size_t>(row)];
}

/// Returns whether rows have no nonzeros left in enough of the rounds of their warps. The longest row of a
/// warp determines its rounds, of `at_once` nonzeros per team.
bool waits_for_long_rows(std::span<const std::int64_t> row_ptr, const Division& division,
                         const DirectHeader& header) {
  std::int64_t taken = 0, used = 0;  // rounds times rows of a warp
  for (std::size_t log = 0; log < kDirectClasses; ++log) {
    const std::vector<std::int32_t>& rows = division.classes[log];
    const std::size_t of_warp = static_cast<std::size_t>(kWarpSize / header.shape.lanes) >> log;
    const std::int64_t step = static_cast<std::int64_t>(header.at_once) << log;
    for (std::size_t first = 0; first < rows.size(); first += of_warp) {
      std::int64_t longest = 0;
      for (std::size_t i = first; i < std::min(first + of_warp, rows.size()); ++i) {
        const std::int64_t rounds = (entries_of(row_ptr, rows[i]) + step - 1) / step;
        longest = std::max(longest, rounds);
        used += rounds;
      }
      taken += longest * static_cast<std::int64_t>(of_warp);
    }
  }
  return taken > 0 && 100 * (taken - used) >= kPolicy.sorted_idle * taken;
}

/// Sorts rows by length within windows, so that rows stay close to their neighbours.
void sort_by_length(std::span<const std::int64_t> row_ptr, std::span<std::int32_t> rows) {
  std::array<std::uint64_t, kPolicy.sorted_rows> keys;  // length and id in one number; long rows first
  while (!rows.empty()) {
    const std::span<std::int32_t> window = rows.first(std::min(keys.size(), rows.size()));
    const auto end = std::ranges::transform(window, keys.begin(), [&](std::int32_t row) {
                       const auto entries = static_cast<std::uint32_t>(entries_of(row_ptr, row));
                       return std::uint64_t{~entries} << 32 | static_cast<std::uint32_t>(row);
                     }).out;
    std::sort(keys.begin(), end);
    std::transform(keys.begin(), end, window.begin(), [](std::uint64_t key) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(key));
    });
    rows = rows.subspan(window.size());
  }
}

/// Long rows are first, because they end last.
std::vector<std::int32_t> list_classes(const Division& division, int lanes, DirectHeader& header) {
  const int lanes_log = std::countr_zero(static_cast<unsigned>(lanes));
  std::vector<std::int32_t> rows;
  for (int log = static_cast<int>(kDirectClasses) - 1; log >= 0; --log) {
    const std::vector<std::int32_t>& list = division.classes[static_cast<std::size_t>(log)];
    if (list.empty()) continue;
    const int threads_log = lanes_log + log;
    header.classes[static_cast<std::size_t>(header.class_count++)] = {
        header.row_blocks, static_cast<std::int32_t>(rows.size()), static_cast<std::int32_t>(list.size()),
        threads_log};
    header.row_blocks +=
        static_cast<std::int32_t>(((std::ssize(list) << threads_log) + kDirectThreads - 1) / kDirectThreads);
    rows.insert(rows.end(), list.begin(), list.end());
  }
  return rows;
}

/// The parts of a schedule, and its header without offsets.
struct Work {
  DirectHeader header;
  std::vector<std::int32_t> rows;  ///< class by class; empty if all rows are of one class
  CsrPieces cut;
};

Work work_of(std::span<const std::int64_t> row_ptr, const DirectRequest& request, const DeviceInfo& device) {
  Work work;
  DirectHeader& header = work.header;
  header.shape = request.shape;
  const std::int64_t turn = turns(row_ptr.back() - row_ptr.front(), request, device);
  const bool narrow = header.shape.repeats == 1 && header.shape.lanes <= kPolicy.many_lanes;
  header.at_once = narrow && turn >= kDirectMany ? kDirectMany : kDirectFew;
  Division division = divide(row_ptr, header, turn);
  const bool sorted = waits_for_long_rows(row_ptr, division, header);
  if (sorted)
    for (std::vector<std::int32_t>& rows : division.classes) sort_by_length(row_ptr, rows);
  work.rows = list_classes(division, header.shape.lanes, header);
  const bool in_order = header.class_count <= 1 && division.splits.empty() && !sorted;
  if (in_order) work.rows.clear();
  header.pieces = std::ssize(division.pieces);
  header.splits = std::ssize(division.splits);
  work.cut = std::move(division);
  return work;
}

}  // namespace

DirectShape direct_shape(std::int64_t n, int vector) {
  const auto lanes = [](std::int64_t columns, int repeats) {
    const auto each = static_cast<std::uint64_t>((columns + repeats - 1) / repeats);
    return static_cast<int>(std::min<std::uint64_t>(std::bit_ceil(each), kPolicy.max_lanes));
  };
  if (n % vector != 0 && n <= kPolicy.max_single) {
    const int repeats = n > 8 ? 2 : 1;
    return {lanes(n, repeats), 1, repeats};
  }
  const std::int64_t vectors = (n + vector - 1) / vector;
  const int repeats = vectors >= 4 ? 2 : 1;
  return {lanes(vectors, repeats), vector, repeats};
}

Status check_one_head(const ServiceRequest& request) {
  if (request.variant.heads == 1) return {};
  return fail(Errc::unsupported,
              "this csr kernel supports one head, got " + std::to_string(request.variant.heads));
}

Schedule direct_schedule(std::span<const std::int64_t> row_ptr, const DirectRequest& request,
                         const DeviceInfo& device) {
  Work work = work_of(row_ptr, request, device);
  DirectHeader& header = work.header;
  Schedule schedule;
  if (!work.rows.empty()) header.rows_at = append(schedule, work.rows);
  header.pieces_at = append(schedule, work.cut.pieces);
  header.splits_at = append(schedule, work.cut.splits);
  if (request.sum_bytes > 0)
    header.scratch =
        append_scratch(schedule, header.splits * request.slices, header.pieces * request.piece_sum_bytes());
  schedule.header.set(header);
  return schedule;
}

std::vector<std::int64_t> direct_numbers(const ScheduleHeader& /*header*/) { return {}; }

Result<Schedule> read_direct(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             const DirectRequest& request, const DeviceInfo& device) {
  return restore_schedule(stored, [&](ScheduleReader& reader, Schedule& schedule) {
    const Work work = work_of(row_ptr, request, device);
    DirectHeader header = work.header;
    if (!work.rows.empty()) reader.expect(work.rows, header.rows_at, "a class has wrong rows");
    reader.expect(work.cut.pieces, header.pieces_at, "a segment is out of order in its row");
    reader.expect(work.cut.splits, header.splits_at, "a long row has wrong segments");
    if (request.sum_bytes > 0)
      header.scratch = read_scratch(reader, schedule, {header.splits, request.slices},
                                    {header.pieces, request.piece_sum_bytes()});
    return header;
  });
}

}  // namespace sptile::runtime::cuda
