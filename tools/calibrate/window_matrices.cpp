#include "tools/calibrate/window_matrices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "formats/core/random.hpp"

namespace sptile::tools {
namespace {

constexpr int kRows = 16;
constexpr std::int64_t kGridColumns[] = {1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 100, 120};
constexpr double kGridEntries[] = {1, 1.5, 2, 3, 4, 5};  // average entries per column
constexpr std::int64_t kMaxColumns = 120, kMaxEntries = 5, kHeldOut = 48;

std::vector<std::int32_t> draw_columns(std::int64_t count, std::int64_t cols, RandomStream& random) {
  std::set<std::int32_t> columns;
  while (std::ssize(columns) < count) columns.insert(static_cast<std::int32_t>(random.below(cols)));
  return {columns.begin(), columns.end()};
}

// For each row of a window, 1 for columns with an entry and 0 for others.
using Cells = std::array<std::vector<char>, kRows>;

Cells draw_cells(const WindowShape& shape, RandomStream& random) {
  Cells cells;
  cells.fill(std::vector<char>(static_cast<std::size_t>(shape.columns)));
  const auto take = [&](std::int64_t column) {
    char& cell = cells[static_cast<std::size_t>(random.below(kRows))][static_cast<std::size_t>(column)];
    return std::exchange(cell, char{1}) == 0;
  };
  for (std::int64_t c = 0; c < shape.columns; ++c) take(c);
  for (std::int64_t left = shape.entries - shape.columns; left > 0;)
    left -= take(random.below(shape.columns));
  return cells;
}

}  // namespace

std::vector<WindowShape> window_shapes(std::uint64_t seed) {
  std::vector<WindowShape> shapes;
  for (const std::int64_t columns : kGridColumns)
    for (const double entries : kGridEntries)
      shapes.push_back({columns, std::lround(entries * static_cast<double>(columns)), false});
  RandomStream random(seed);
  for (std::int64_t i = 0; i < kHeldOut; ++i) {
    const std::int64_t columns = 1 + random.below(kMaxColumns);
    shapes.push_back({columns, columns + random.below((kMaxEntries - 1) * columns + 1), true});
  }
  return shapes;
}

formats::Csr make_windows(const WindowShape& shape, std::int64_t windows, std::int64_t cols,
                          std::uint64_t seed) {
  const std::int64_t rows = kRows * windows;
  formats::Csr a{rows,
                 cols,
                 formats::Buffer<std::int64_t>(rows + 1),
                 formats::Buffer<std::int32_t>(windows * shape.entries),
                 {}};
  std::int64_t entry = 0;
  a.row_ptr[0] = 0;
  for (std::int64_t w = 0; w < windows; ++w) {
    RandomStream random(seed, static_cast<std::uint64_t>(w));
    const std::vector<std::int32_t> columns = draw_columns(shape.columns, cols, random);
    const Cells cells = draw_cells(shape, random);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (cells[r][c] != 0) a.col_idx[entry++] = columns[c];
      a.row_ptr[kRows * w + static_cast<std::int64_t>(r) + 1] = entry;
    }
  }
  return a;
}

}  // namespace sptile::tools
