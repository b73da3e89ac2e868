#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/families/csr/stream.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime::cuda {
namespace {

struct Division {
  std::vector<std::uint16_t> ends;
  std::vector<StreamBlock> blocks;
  CsrPieces pieces;
};

/// The blocks of the rows [first, last). Ends of rows are written to the list of all rows.
struct Part {
  std::vector<StreamBlock> blocks;
  CsrPieces pieces;
};

Part divide_rows(std::span<const std::int64_t> row_ptr, std::int64_t first, std::int64_t last,
                 const StreamShape& shape, std::uint16_t* ends) {
  const std::int64_t* const at = row_ptr.data();
  const std::int64_t long_places = shape.long_places(row_ptr.back() - row_ptr.front());
  Part part;
  std::int64_t begin = first;
  const auto close = [&](std::int64_t end) {
    if (end > begin)
      part.blocks.push_back({at[begin], static_cast<std::int32_t>(begin),
                             static_cast<std::uint16_t>(at[end] - at[begin]),
                             static_cast<std::uint16_t>(end - begin)});
    begin = end;
  };
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t entries = at[row + 1] - at[row];
    if (entries > shape.piece()) {
      close(row);
      part.pieces.cut(row, at[row], entries, shape.piece(), kStreamLine);
      begin = row + 1;
      continue;
    }
    const auto place = [&] { return at[row + 1] - at[begin] / kStreamLine * kStreamLine; };
    const bool fits = place() <= shape.places() ||
                      (place() <= long_places && are_long(row + 1 - begin, at[row + 1] - at[begin]));
    if (row - begin == shape.rows() || !fits) close(row);
    ends[row] = static_cast<std::uint16_t>(place());
  }
  close(last);
  return part;
}

Division divide(std::span<const std::int64_t> row_ptr, const StreamShape& shape) {
  const std::int64_t rows = std::ssize(row_ptr) - 1, count = (rows + kRowsPerPart - 1) / kRowsPerPart;
  std::vector<Part> parts(static_cast<std::size_t>(count));
  Division division;
  division.ends.resize(static_cast<std::size_t>(rows));
#pragma omp parallel for schedule(dynamic, 1) num_threads(max_threads()) if (count > 1)
  for (std::int64_t i = 0; i < count; ++i)
    parts[static_cast<std::size_t>(i)] = divide_rows(
        row_ptr, i * kRowsPerPart, std::min((i + 1) * kRowsPerPart, rows), shape, division.ends.data());
  std::size_t blocks = 0;
  for (const Part& part : parts) blocks += part.blocks.size();
  division.blocks.reserve(blocks);
  for (const Part& part : parts) {
    division.blocks.insert(division.blocks.end(), part.blocks.begin(), part.blocks.end());
    division.pieces.append(part.pieces);
  }
  return division;
}

StreamHeader header_of(const Division& division) {
  StreamHeader header;
  header.blocks = std::ssize(division.blocks);
  header.pieces = std::ssize(division.pieces.pieces);
  header.splits = std::ssize(division.pieces.splits);
  return header;
}

}  // namespace

Status check_one_column(const ServiceRequest& request) {
  if (request.n == 1 && request.variant.heads == 1) return {};
  return fail(Errc::unsupported,
              std::string(kCsrStream) + " supports one column and one head; this plan has " +
                  std::to_string(request.n) + " of " + std::to_string(request.variant.heads));
}

Schedule stream_schedule(std::span<const std::int64_t> row_ptr, std::int64_t sum_bytes,
                         const StreamShape& shape) {
  const Division division = divide(row_ptr, shape);
  StreamHeader header = header_of(division);
  Schedule schedule;
  reserve(schedule, division.ends, division.blocks, division.pieces.pieces, division.pieces.splits);
  header.ends_at = append(schedule, division.ends);
  header.blocks_at = append(schedule, division.blocks);
  header.pieces_at = append(schedule, division.pieces.pieces);
  header.splits_at = append(schedule, division.pieces.splits);
  header.scratch = append_scratch(schedule, header.splits, header.pieces * sum_bytes);
  schedule.header.set(header);
  return schedule;
}

Result<Schedule> read_stream(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             std::int64_t sum_bytes) {
  return restore_schedule(stored, [&](ScheduleReader& reader, Schedule& schedule) {
    const Division division = divide(row_ptr, kStreamShape);
    StreamHeader header = header_of(division);
    reader.expect(division.ends, header.ends_at, "a row ends at a wrong entry");
    reader.expect(division.blocks, header.blocks_at, "a block has wrong rows");
    reader.expect(division.pieces.pieces, header.pieces_at, "a segment is out of order in its row");
    reader.expect(division.pieces.splits, header.splits_at, "a long row has wrong segments");
    header.scratch = read_scratch(reader, schedule, {header.splits, 1}, {header.pieces, sum_bytes});
    return header;
  });
}

}  // namespace sptile::runtime::cuda
