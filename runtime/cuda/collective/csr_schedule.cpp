#include "runtime/cuda/collective/csr_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/threads/count.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr std::int64_t kWarpsPerSm = 32;  ///< approximate number of resident warps
constexpr std::int64_t kShortestRun = 48, kLongestRun = 128;
constexpr std::int64_t kShortestPiece = 64, kLongestPiece = 1024;
constexpr std::int64_t kPieceStep = 32;  ///< segments of a row are multiples of it, except the last
/// Groups of a warp walk in step, so adjacent items should have about equal lengths.
constexpr std::int64_t kLongestPieceInStep = 512;
constexpr std::ptrdiff_t kSortedRuns = 64;  ///< window within which runs are sorted by length

struct Targets {
  std::int64_t run, piece;
  bool in_step, cut = true;
};

/// Returns target lengths that give every multiprocessor several items.
Targets targets(const CsrRows& work, int lanes, const DeviceInfo& device) {
  const std::int64_t groups = std::max(device.sm_count, 1) * kWarpsPerSm * (32 / lanes);
  const std::int64_t share = (work.entries() + kRowCost * work.rows()) / groups;
  const std::int64_t longest = lanes == 32 ? kLongestPiece : kLongestPieceInStep;
  return {std::clamp(share / 8, kShortestRun, kLongestRun),
          (std::max(std::clamp(share / 4, kShortestPiece, longest), work.shortest_piece) + kPieceStep - 1) /
              kPieceStep * kPieceStep,
          lanes < 32};
}

constexpr std::string_view kRowTwice = "a row that does not exist or is assigned to two items",
                           kNoPiece = "a segment is out of order in its row";

struct Part : CsrPieces {
  std::vector<CsrRun> runs;
};

constexpr std::int64_t kMostRunEntries = (1 << 24) - 1;  ///< maximum of a CsrRun

/// Returns the length of the segments of a long row. The last group adds the partial sums in sequence, as it
/// does the nonzeros of a segment. In very long rows the number of segments therefore equals their length.
std::int64_t piece_length(std::int64_t entries, const Targets& target) {
  const auto even = static_cast<std::int64_t>(std::sqrt(static_cast<double>(entries)));
  return std::max(target.piece, (even + kPieceStep - 1) / kPieceStep * kPieceStep);
}

/// Returns whether a row is split. Rows slightly over the target are not: two segments cost more than the
/// imbalance.
bool is_long(std::int64_t entries, const Targets& target) {
  return target.cut ? 2 * entries > 3 * target.piece : entries > kMostRunEntries;
}

/// Sorts runs by length within windows of kSortedRuns, so that runs stay close to their neighbours.
void sort_neighbours(std::vector<CsrRun>& runs) {
  for (auto first = runs.begin(); first != runs.end();) {
    const auto last = first + std::min(kSortedRuns, runs.end() - first);
    std::stable_sort(first, last, [](const CsrRun& a, const CsrRun& b) {
      return a.entries_and_rows >> 8 > b.entries_and_rows >> 8;
    });
    first = last;
  }
}

Part schedule_rows(const CsrRows& rows, std::int64_t first, std::int64_t last, const Targets& target) {
  const std::int64_t* const row_ptr = rows.row_ptr.data();
  Part part;
  std::int64_t begin = first;
  const auto close = [&](std::int64_t end) {
    const std::int64_t entries = row_ptr[end] - row_ptr[begin];
    if (end > begin)
      part.runs.push_back({row_ptr[begin], static_cast<std::int32_t>(begin),
                           static_cast<std::uint32_t>(entries << 8 | (end - begin))});
    begin = end;
  };
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t entries = row_ptr[row + 1] - row_ptr[row];
    if (is_long(entries, target)) {
      close(row);
      part.cut(row, row_ptr[row], entries, piece_length(entries, target), kPieceStep);
      begin = row + 1;
      continue;
    }
    const std::int64_t before = row_ptr[row] - row_ptr[begin] + kRowCost * (row - begin);
    if (row - begin == kMaxRunRows || (row > begin && before + entries > target.run)) close(row);
  }
  close(last);
  if (target.in_step) sort_neighbours(part.runs);
  return part;
}

Part schedule_all(const CsrRows& rows, const Targets& target) {
  const std::int64_t count = (rows.rows() + kRowsPerPart - 1) / kRowsPerPart;
  std::vector<Part> parts(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(dynamic, 1) num_threads(max_threads()) if (count > 1)
  for (std::int64_t i = 0; i < count; ++i)
    parts[static_cast<std::size_t>(i)] =
        schedule_rows(rows, i * kRowsPerPart, std::min((i + 1) * kRowsPerPart, rows.rows()), target);
  if (count == 1) return std::move(parts.front());
  Part all;
  std::size_t runs = 0, pieces = 0;
  for (const Part& part : parts) {
    runs += part.runs.size();
    pieces += part.pieces.size();
  }
  all.runs.reserve(runs);
  all.pieces.reserve(pieces);
  for (const Part& part : parts) {
    all.runs.insert(all.runs.end(), part.runs.begin(), part.runs.end());
    all.append(part);
  }
  return all;
}

/// Grid of the rows, and workspace per segment and split row in the largest grid that may run them.
struct CsrGrid {
  int lanes;
  std::int64_t counters;   ///< counters of a split row: one per slice and head
  std::int64_t sum_bytes;  ///< bytes of the partial sums of a segment
};

CsrGrid grid_of(const CsrRows& rows, DType dense, std::int64_t n, std::int64_t heads) {
  const int vector = csr_vector(dense);
  const CsrGeometry usual = csr_geometry(n, vector),
                    own = rows.lanes == 0 ? usual : csr_geometry_of(rows.lanes, n, vector);
  const std::int64_t lanes = std::max(usual.slices * usual.lanes, own.slices * own.lanes);
  return {own.lanes, heads * std::max(usual.slices, own.slices),
          heads * lanes * vector * (dense == DType::f64 ? 8 : 4)};
}

/// Verifies that the segments cover the split rows in order.
void check_pieces(ScheduleReader& reader, std::span<const std::int64_t> row_ptr,
                  std::span<const CsrSplit> splits, std::span<const CsrPiece> pieces, Owners& rows) {
  std::size_t next = 0;
  for (std::size_t s = 0; s < splits.size() && reader.ok(); ++s) {
    const CsrSplit& split = splits[s];
    const bool placed = std::cmp_equal(split.first_piece, next) && split.pieces > 0 &&
                        std::cmp_less_equal(split.pieces, pieces.size() - next);
    if (!reader.require(placed && rows.take(split.row, std::int64_t{split.row} + 1), kRowTwice)) return;
    const auto row = static_cast<std::size_t>(split.row);
    std::int64_t entry = row_ptr[row];
    for (const std::size_t end = next + static_cast<std::size_t>(split.pieces); next < end; ++next) {
      const CsrPiece& piece = pieces[next];
      const bool whole = piece.entries > 0 && (next + 1 == end || piece.entries % kPieceStep == 0);
      reader.require(whole && piece.entry == entry && std::cmp_equal(piece.split, s), kNoPiece);
      entry += piece.entries;
    }
    reader.require(entry == row_ptr[row + 1], kNoPiece);
  }
  reader.require(next == pieces.size(), kNoPiece);
}

void check_runs(ScheduleReader& reader, std::span<const std::int64_t> row_ptr, std::span<const CsrRun> runs,
                Owners& rows) {
  for (const CsrRun& run : runs) {
    const std::int64_t row = run.row, count = run.entries_and_rows & 0xFF;
    if (!reader.require(count > 0 && count <= kMaxRunRows && rows.take(row, row + count), kRowTwice)) return;
    const std::int64_t begin = row_ptr[static_cast<std::size_t>(row)],
                       end = row_ptr[static_cast<std::size_t>(row + count)];
    reader.require(run.entry == begin && run.entries_and_rows >> 8 == end - begin,
                   "a run of rows does not have their entries");
  }
}

}  // namespace

void CsrPieces::cut(std::int64_t row, std::int64_t entry, std::int64_t entries, std::int64_t longest,
                    std::int64_t step) {
  const std::int64_t count = (entries + longest - 1) / longest;
  const std::int64_t each = ((entries + count - 1) / count + step - 1) / step * step;
  const auto split = static_cast<std::int32_t>(splits.size()),
             first = static_cast<std::int32_t>(pieces.size());
  for (std::int64_t begin = 0; begin < entries; begin += each)
    pieces.push_back({entry + begin, static_cast<std::int32_t>(std::min(each, entries - begin)), split});
  splits.push_back({static_cast<std::int32_t>(row), first, static_cast<std::int32_t>(pieces.size()) - first});
}

void CsrPieces::append(const CsrPieces& other) {
  const auto split = static_cast<std::int32_t>(splits.size()),
             piece = static_cast<std::int32_t>(pieces.size());
  for (const CsrSplit& from : other.splits)
    splits.push_back({from.row, from.first_piece + piece, from.pieces});
  for (const CsrPiece& from : other.pieces) pieces.push_back({from.entry, from.entries, from.split + split});
}

CsrGeometry csr_geometry(std::int64_t n, int vector) {
  const std::int64_t vectors = (n + vector - 1) / vector;
  return csr_geometry_of(vectors <= 8 ? 8 : vectors <= 16 ? 16 : 32, n, vector);
}

std::int64_t csr_least_n(std::int64_t n, int vector) {
  const int lanes = csr_geometry(n, vector).lanes;
  return lanes == 8 ? 1 : std::int64_t{lanes} / 2 * vector + 1;
}

CsrHeader append_csr_items(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                           const DeviceInfo& device) {
  CsrHeader header;
  Targets target = targets(rows, grid_of(rows, dense, n, 1).lanes, device);
  target.cut = rows.cut;
  const Part part = schedule_all(rows, target);
  reserve(schedule, part.runs, part.pieces, part.splits);
  header.runs_at = cuda::append(schedule, part.runs);
  header.runs = std::ssize(part.runs);
  header.pieces_at = cuda::append(schedule, part.pieces);
  header.pieces = std::ssize(part.pieces);
  header.splits_at = cuda::append(schedule, part.splits);
  header.splits = std::ssize(part.splits);
  return header;
}

CsrHeader append_csr(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                     const DeviceInfo& device, std::int64_t heads) {
  CsrHeader header = append_csr_items(schedule, rows, dense, n, device);
  const CsrGrid grid = grid_of(rows, dense, n, heads);
  // Counters of split rows and slices, then partial sums of segments.
  header.scratch = append_scratch(schedule, header.splits * grid.counters, header.pieces * grid.sum_bytes);
  return header;
}

std::vector<std::int64_t> csr_numbers(const CsrHeader& header) {
  return {header.runs, header.pieces, header.splits};
}

CsrHeader read_csr(ScheduleReader& reader, Schedule& schedule, const CsrRows& rows, DType dense,
                   std::int64_t n, std::int64_t heads) {
  CsrHeader header;
  const CsrGrid grid = grid_of(rows, dense, n, heads);
  header.runs = reader.number(rows.rows());
  header.pieces = reader.number(std::numeric_limits<std::int32_t>::max() - header.runs);
  header.splits = reader.number(rows.rows());
  const auto runs = reader.part<CsrRun>(header.runs, header.runs_at);
  const auto pieces = reader.part<CsrPiece>(header.pieces, header.pieces_at);
  const auto splits = reader.part<CsrSplit>(header.splits, header.splits_at);
  if (!reader.ok()) return header;
  Owners owners(rows.rows());
  check_pieces(reader, rows.row_ptr, splits, pieces, owners);
  check_runs(reader, rows.row_ptr, runs, owners);
  reader.require(owners.complete(), "a row is not assigned to an item");
  header.scratch =
      read_scratch(reader, schedule, {header.splits, grid.counters}, {header.pieces, grid.sum_bytes});
  return header;
}

}  // namespace sptile::runtime::cuda
