// The sparsity of a matrix as a picture: entries counted in cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::tools::spy {

/// How many entries fall in each cell of a height x width grid, row by row.
struct Raster {
  std::int64_t height = 0, width = 0;
  std::vector<std::int64_t> counts;
};

/// The longer side of a picture is at most so many times the shorter: a thin matrix is no line.
inline constexpr std::int64_t kMostProportion = 6;

/// Cells of a grid whose longer side has `size`, in the proportions of the matrix up to kMostProportion.
Raster empty_raster(std::int64_t rows, std::int64_t cols, std::int64_t size);

/// Counts entries. A matrix with fewer rows or columns than cells has each line in several cells. Row i of
/// the picture is row row_order[i] (empty: as they stand), the same for columns. O(nnz + cells), parallel.
Raster rasterise(const formats::CsrView& a, std::span<const std::int32_t> row_order,
                 std::span<const std::int32_t> column_order, std::int64_t size);

/// A picture of 8-bit grey: 255 where nothing is, darker with more entries.
struct Image {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};

/// The largest count of all; 1 where nothing is.
std::int64_t most_entries(std::span<const Raster> rasters);

/// Paints one raster: black is `most` entries in a cell.
Image paint(const Raster& raster, std::int64_t most);

/// Paints rasters of equal height side by side with a gap, all in one logarithmic scale, so that they
/// compare.
Image paint(std::span<const Raster> panels);

}  // namespace sptile::tools::spy
