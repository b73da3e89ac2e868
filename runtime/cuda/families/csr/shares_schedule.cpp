#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/cuda/families/csr/shares.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {
namespace {

struct SharesDivision : RowChunks {
  std::vector<CsrPiece> blocks;
  std::vector<CsrSplit> splits;
  std::int64_t pieces = 0;
};

/// Cuts rows into blocks in the order of their nonzeros.
class SharesCutter {
 public:
  explicit SharesCutter(const SharesShape& shape) : places_(shape.places()) {}

  /// Adds a row that is not empty.
  void add(std::int32_t row, std::int64_t begin, std::int64_t end) {
    if (end <= limit(begin_)) return;
    close(begin);
    if (end <= limit(begin_)) return;
    const auto split = static_cast<std::int32_t>(splits_.size()),
               first = static_cast<std::int32_t>(pieces_.size());
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t next = std::min(limit(at), end);
      pieces_.push_back({at, static_cast<std::int32_t>(next - at), split});
      at = next;
    }
    splits_.push_back({row, first, static_cast<std::int32_t>(pieces_.size()) - first});
    begin_ = end;
  }

  /// Ends the last block of entire rows before nonzero `end`.
  void close(std::int64_t end) {
    if (end > begin_) runs_.push_back({begin_, static_cast<std::int32_t>(end - begin_), -1});
    begin_ = end;
  }

  void move_to(SharesDivision& division) {
    division.pieces = std::ssize(pieces_);
    division.blocks = std::move(pieces_);
    division.blocks.insert(division.blocks.end(), runs_.begin(), runs_.end());
    division.splits = std::move(splits_);
  }

 private:
  /// Returns the end of a block that starts with nonzero `first`.
  [[nodiscard]] std::int64_t limit(std::int64_t first) const {
    return first / kRowChunk * kRowChunk + places_;
  }

  std::int64_t places_, begin_ = 0;
  std::vector<CsrPiece> pieces_, runs_;
  std::vector<CsrSplit> splits_;
};

SharesDivision divide_shares(std::span<const std::int64_t> row_ptr, const SharesShape& shape) {
  SharesDivision division{row_chunks(row_ptr), {}, {}};
  SharesCutter cutter(shape);
  for (std::size_t row = 0; row + 1 < row_ptr.size(); ++row)
    if (row_ptr[row] < row_ptr[row + 1])
      cutter.add(static_cast<std::int32_t>(row), row_ptr[row], row_ptr[row + 1]);
  cutter.close(row_ptr.back());
  cutter.move_to(division);
  return division;
}

SharesHeader header_of(const SharesDivision& division) {
  SharesHeader header;
  header.rows = division.row_count;
  header.empty = std::ssize(division.empty);
  header.blocks = std::ssize(division.blocks);
  header.pieces = division.pieces;
  header.splits = std::ssize(division.splits);
  return header;
}

}  // namespace

SharesShape shares_shape(std::int64_t entries, int groups, int max_chunks, int blocks,
                         const DeviceInfo& device) {
  const std::int64_t parts = std::int64_t{std::max(device.sm_count, 1)} * blocks * groups * kRowChunk;
  return {groups, static_cast<int>(std::clamp<std::int64_t>(entries / parts, 1, max_chunks))};
}

Schedule shares_schedule(std::span<const std::int64_t> row_ptr, const SharesShape& shape,
                         const SharesScratch& scratch) {
  const SharesDivision division = divide_shares(row_ptr, shape);
  SharesHeader header = header_of(division);
  Schedule schedule;
  reserve(schedule, division.chunks, division.rows, division.empty, division.blocks, division.splits);
  header.chunks_at = append(schedule, division.chunks);
  if (!division.rows.empty()) header.rows_at = append(schedule, division.rows);
  header.empty_at = append(schedule, division.empty);
  header.blocks_at = append(schedule, division.blocks);
  header.splits_at = append(schedule, division.splits);
  header.scratch =
      append_scratch(schedule, header.splits * scratch.counters, header.pieces * scratch.sum_bytes);
  schedule.header.set(header);
  return schedule;
}

Result<Schedule> read_shares(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             const SharesShape& shape, const SharesScratch& scratch) {
  return restore_schedule(stored, [&](ScheduleReader& reader, Schedule& schedule) {
    const SharesDivision division = divide_shares(row_ptr, shape);
    SharesHeader header = header_of(division);
    reader.expect(division.chunks, header.chunks_at, "a row ends at a wrong nonzero");
    if (!division.rows.empty()) reader.expect(division.rows, header.rows_at, "a row is missing");
    reader.expect(division.empty, header.empty_at, "an empty row is missing");
    reader.expect(division.blocks, header.blocks_at, "a block has wrong nonzeros");
    reader.expect(division.splits, header.splits_at, "a long row has wrong segments");
    header.scratch =
        read_scratch(reader, schedule, {header.splits, scratch.counters}, {header.pieces, scratch.sum_bytes});
    return header;
  });
}

}  // namespace sptile::runtime::cuda
