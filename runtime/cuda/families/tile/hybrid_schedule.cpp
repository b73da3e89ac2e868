#include "runtime/cuda/families/tile/hybrid_schedule.hpp"

namespace sptile::runtime::cuda {

ResidualRows residual_rows(const formats::Blocks& blocks, std::int64_t rows) {
  ResidualRows residual;
  residual.entries.push_back(0);
  if (blocks.rows.columns.empty()) return residual;
  std::size_t next = 0;  // index among the rows with residual entries
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto window = static_cast<std::size_t>(row / blocks.window_rows);
    const bool has_tiles = blocks.tile_offset[window] < blocks.tile_offset[window + 1];
    const bool has_entries = next < blocks.rows.ids.size() && blocks.rows.ids[next] == row;
    if (has_entries) ++next;
    if (has_tiles && !has_entries) continue;
    const auto id = static_cast<std::int32_t>(row);
    residual.ids.push_back(has_tiles ? ~id : id);
    residual.entries.push_back(blocks.rows.offset[next]);
  }
  return residual;
}

namespace {
bool are_all(const ResidualRows& rows, const formats::FormatView& format) {
  return std::ssize(rows.ids) == format.rows && formats::blocks_of(format).tiles() == 0;
}
}  // namespace

ResidualHeader append_residual(Schedule& schedule, const formats::FormatView& format, DType dense,
                               std::int64_t n, const DeviceInfo& device, int lanes) {
  const ResidualRows rows = residual_rows(formats::blocks_of(format), format.rows);
  ResidualHeader header;
  header.csr = append_csr(schedule, {.row_ptr = rows.entries, .lanes = lanes}, dense, n, device);
  header.ids_at = append(schedule, rows.ids);
  header.all = are_all(rows, format);
  header.entries_at = append(schedule, rows.entries);
  return header;
}

std::int64_t rows_in_tiles(const formats::FormatView& format) {
  const formats::BlockRows rows = formats::blocks_of(format).rows;
  return (std::ssize(rows.columns) + rows.size()) / 8;
}

std::vector<std::int64_t> hybrid_numbers(const HybridHeader& header) {
  std::vector<std::int64_t> numbers = tile_numbers(header.tiles);
  for (const std::int64_t number : csr_numbers(header.rows.csr)) numbers.push_back(number);
  return numbers;
}

ResidualHeader read_residual(ScheduleReader& reader, Schedule& schedule, const formats::FormatView& format,
                             DType dense, std::int64_t n, int lanes) {
  const ResidualRows rows = residual_rows(formats::blocks_of(format), format.rows);
  ResidualHeader header;
  header.csr = read_csr(reader, schedule, {.row_ptr = rows.entries, .lanes = lanes}, dense, n);
  reader.expect(rows.ids, header.ids_at, "the rows without tiles do not match the matrix");
  reader.expect(rows.entries, header.entries_at, "the rows without tiles do not match the matrix");
  header.all = are_all(rows, format);
  return header;
}

}  // namespace sptile::runtime::cuda
