#include "formats/layout/blocks.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "../sample_matrices.hpp"
#include "formats/convert/converters.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/registry.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

using Columns = std::set<std::int32_t>;

/// The columns of each row that stand in rows, not in tiles.
std::map<std::int64_t, Columns> columns_in_rows(const Blocks& blocks) {
  const std::vector<std::int64_t> offset = row_offsets(blocks.rows);
  std::map<std::int64_t, Columns> rows;
  for (std::int64_t i = 0; i < blocks.rows.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t row = blocks.rows.ids.empty() ? i : blocks.rows.ids[at];
    for (std::int64_t k = offset[at]; k < offset[at + 1]; ++k)
      rows[row].insert(blocks.rows.columns[static_cast<std::size_t>(k)]);
  }
  return rows;
}

/// What a window has to hold: each of its rows without what stands in rows.
std::vector<Columns> rows_of_window(const Blocks& blocks, std::int64_t window, const Rows& matrix,
                                    const std::map<std::int64_t, Columns>& in_rows) {
  const std::int64_t first = blocks.row_of(window);
  const std::int64_t end = blocks.window_rows > 0 ? first + blocks.window_rows : blocks.row_of(window + 1);
  std::vector<Columns> rows;
  for (std::int64_t r = first; r < std::min(end, std::ssize(matrix)); ++r) {
    const auto& all = matrix[static_cast<std::size_t>(r)];
    Columns row(all.begin(), all.end());
    if (const auto found = in_rows.find(r); found != in_rows.end())
      for (const std::int32_t c : found->second) row.erase(c);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Checks the tiles of one window, or of all pieces of one: every one has the entries in columns that no tile
/// in front of it has, and its first entry is behind theirs. Gives the number of entries.
std::int64_t check_tiles(const Blocks& blocks, std::int64_t first_window, std::int64_t end_window,
                         const std::vector<Columns>& rows) {
  Columns seen;
  std::int64_t value = blocks.first_value(first_window), wrong = 0;
  for (std::int64_t w = first_window; w < end_window; ++w) {
    wrong += blocks.first_value(w) != value;
    for (std::int64_t t = blocks.tile_offset[static_cast<std::size_t>(w)];
         t < blocks.tile_offset[static_cast<std::size_t>(w + 1)]; ++t) {
      std::int64_t entries = 0;
      for (const std::int32_t c : blocks.columns.subspan(static_cast<std::size_t>(8 * t), 8))
        if (seen.insert(c).second)
          for (const Columns& row : rows) entries += static_cast<std::int64_t>(row.count(c));
      wrong += blocks.first_value_of_tile(t) != value;
      wrong += blocks.values_between(t, t + 1) != entries;
      value += entries;
    }
  }
  Columns expected;
  for (const Columns& row : rows) expected.insert(row.begin(), row.end());
  CHECK(wrong == 0);
  CHECK(seen == expected);
  CHECK(blocks.first_value(end_window) == value);
  return value - blocks.first_value(first_window);
}

/// Checks everything against the matrix; gives the number of windows that continue another.
std::int64_t check_blocks(const FormatView& view, const Rows& matrix) {
  const Blocks blocks = blocks_of(view);
  const std::map<std::int64_t, Columns> in_rows = columns_in_rows(blocks);
  std::int64_t entries = std::ssize(blocks.rows.columns), pieces = 0;
  for (std::int64_t w = 0, end = 0; w < blocks.windows(); w = end) {
    CAPTURE(w);
    for (end = w + 1; end < blocks.windows() && blocks.continues(end); ++end) ++pieces;
    entries += check_tiles(blocks, w, end, rows_of_window(blocks, w, matrix, in_rows));
  }
  CHECK(entries == view.nnz);
  CHECK(blocks.loads() == 8 * blocks.tiles() + std::ssize(blocks.rows.columns));
  if (blocks.windows() > 0) CHECK(blocks.tile_offset.back() == blocks.tiles());
  if (view.layout->tc_blocks(view) > 0)
    CHECK(blocks.first_value_of_tile(blocks.tiles()) == view.nnz - std::ssize(blocks.rows.columns));
  for (const auto& [row, columns] : in_rows) {
    const auto& all = matrix[static_cast<std::size_t>(row)];
    CHECK(std::includes(all.begin(), all.end(), columns.begin(), columns.end()));
  }
  return pieces;
}

}  // namespace

TEST_CASE("blocks: windows, tiles and rows of every format hold what the matrix has there") {
  std::map<std::string_view, std::int64_t> pieces;
  for (const Sample& sample : sample_matrices()) {
    CAPTURE(sample.name);
    const Csr a = make_csr(sample.cols, sample.rows, DType::none);
    for (const Converter& converter : converters()) {
      CAPTURE(converter.format);
      const Result<FormatData> data = converter.from_csr(a.view(), nullptr);
      REQUIRE(data.has_value());
      pieces[converter.format] += check_blocks(data->view(), sample.rows);
    }
  }
  CHECK(pieces["rs_tile"] > 0);  // else no sample has a window that is split
  pieces.erase("rs_tile");
  for (const auto& piece : pieces) CHECK_MESSAGE(piece.second == 0, piece.first);
}

TEST_CASE("blocks: every format with all values of its parameter that are worth a try") {
  for (const Sample& sample : sample_matrices()) {
    CAPTURE(sample.name);
    if (sample.rows.size() > 1000) continue;
    const Csr a = make_csr(sample.cols, sample.rows, DType::none);
    for (const FormatLayout* layout : layouts()) {
      if (layout->parameter == nullptr) continue;
      const FormatParameter& parameter = *layout->parameter;
      std::vector<int> values(parameter.tried.begin(), parameter.tried.end());
      if (values.empty()) values.assign(parameter.values.begin(), parameter.values.end());
      for (const NamedValue& named : parameter.names) values.push_back(named.value);
      for (const int value : values) {
        CAPTURE(layout->name);
        CAPTURE(value);
        const auto data = find_converter(layout->name)->from_csr_at(a.view(), value, nullptr);
        REQUIRE(data.has_value());
        check_blocks(data->view(), sample.rows);
      }
    }
  }
}

TEST_CASE("blocks: csr is all rows and no windows") {
  const Csr a = make_csr(9, {{0, 8}, {}, {3}});
  const Blocks blocks = blocks_of(as_format(a.view()));
  CHECK(blocks.windows() == 0);
  CHECK(blocks.tiles() == 0);
  CHECK(blocks.rows.size() == 3);
  CHECK(blocks.loads() == 3);
  CHECK(row_offsets(blocks.rows) == std::vector<std::int64_t>{0, 2, 2, 3});
}

TEST_CASE("blocks: a tile in the middle of a window without offsets of tiles") {
  const Csr a = make_csr(40, {{0, 1, 2, 9, 10, 17}, {0, 9}, {}, {30}});
  const FormatData data = *find_converter("bmat")->from_csr(a.view(), nullptr);
  const Blocks blocks = blocks_of(data.view());
  CHECK(blocks.tiles() == 1);
  CHECK(blocks.first_value_of_tile(1) == 9);
  const Csr wide = make_csr(40, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20}, {}, {1, 20, 30}});
  const FormatData two = *find_converter("bmat")->from_csr(wide.view(), nullptr);
  CHECK(blocks_of(two.view()).first_value_of_tile(1) == 9);
  CHECK(blocks_of(two.view()).first_value_of_tile(2) == 14);
}

TEST_CASE("blocks: sizes do not depend on what arrays hold, nor on whether they are in host memory") {
  const Sample sample = sample_matrices().back();
  const Csr a = make_csr(sample.cols, sample.rows, DType::none);
  for (const Converter& converter : converters()) {
    CAPTURE(converter.format);
    const FormatData data = *converter.from_csr(a.view(), nullptr);
    FormatView nowhere = data.view();
    for (ArrayView& array : nowhere.arrays) array.data = nullptr;
    const Blocks blocks = blocks_of(data.view()), same = blocks_of(nowhere);
    CHECK(same.windows() == blocks.windows());
    CHECK(same.tiles() == blocks.tiles());
    CHECK(same.loads() == blocks.loads());
    CHECK(same.rows.size() == blocks.rows.size());
  }
}
