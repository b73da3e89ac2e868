// Sparsity of a matrix as a picture: entries counted in cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::tools::spy {

/// Number of entries in each cell of a height x width grid, row by row.
struct Raster {
  std::int64_t height = 0, width = 0;
  std::vector<std::int64_t> counts;
};

/// Maximum aspect ratio of a picture, so that thin matrices remain visible.
inline constexpr std::int64_t kMaxProportion = 6;

/// Returns a grid whose longer side has `size` cells, with the aspect ratio of the matrix up to
/// kMaxProportion.
Raster empty_raster(std::int64_t rows, std::int64_t cols, std::int64_t size);

/// Counts entries. A matrix with fewer rows or columns than cells has each line in several cells. Row i of
/// the picture is row row_order[i] (empty: original order), and likewise for columns. O(nnz + cells),
/// parallel.
Raster rasterise(const formats::CsrView& a, std::span<const std::int32_t> row_order,
                 std::span<const std::int32_t> column_order, std::int64_t size);

/// An 8-bit grayscale picture: 255 for empty cells, darker for more entries.
struct Image {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};

/// Returns the maximum count of all rasters; 1 if they are empty.
std::int64_t max_entries(std::span<const Raster> rasters);

/// Draws a raster; black is `max` entries in a cell.
Image render(const Raster& raster, std::int64_t max);

/// Draws rasters of equal height side by side with a gap, with a common logarithmic scale.
Image render(std::span<const Raster> panels);

}  // namespace sptile::tools::spy
