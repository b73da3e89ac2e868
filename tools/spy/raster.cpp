#include "tools/spy/raster.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "formats/core/parallel_loop.hpp"

namespace sptile::tools::spy {
namespace {

constexpr std::int64_t kGap = 12;        // pixels between panels
constexpr std::uint8_t kGapShade = 200;  // lighter than any entry
constexpr int kLightest = 170, kDarkest = 0;

// Lines (rows or columns) and cells of one axis. With more cells than lines, a line covers several cells.
struct Axis {
  std::int64_t lines, cells;

  [[nodiscard]] std::int64_t first_line(std::int64_t cell) const {
    return (cell * lines + cells - 1) / cells;
  }
  [[nodiscard]] std::int64_t cell_of(std::int64_t line) const { return line * cells / lines; }
  // Returns the line of a cell if cells >= lines.
  [[nodiscard]] std::int64_t line_of(std::int64_t cell) const { return cell * lines / cells; }
  [[nodiscard]] bool coarse() const { return lines > cells; }
};

// Returns the position of each column in the picture.
std::vector<std::int32_t> places(std::span<const std::int32_t> order) {
  std::vector<std::int32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  return place;
}

// Counts the entries of lines [first, last) per cell, or per column if there are fewer columns than cells.
class Painter {
 public:
  Painter(const formats::CsrView& a, std::span<const std::int32_t> row_order,
          std::span<const std::int32_t> column_order, Axis columns)
      : a_(a), row_order_(row_order), place_(places(column_order)), columns_(columns) {}

  void count(std::int64_t first, std::int64_t last, std::int64_t* cells) const {
    // used for few columns: counts per column, distributed to cells afterwards
    std::vector<std::int64_t> lines;
    if (!columns_.coarse()) lines.assign(static_cast<std::size_t>(columns_.lines), 0);
    for (std::int64_t i = first; i < last; ++i) {
      const auto r =
          static_cast<std::size_t>(row_order_.empty() ? i : row_order_[static_cast<std::size_t>(i)]);
      for (std::int64_t k = a_.row_ptr[r]; k < a_.row_ptr[r + 1]; ++k) {
        const auto c = static_cast<std::size_t>(a_.col_idx[static_cast<std::size_t>(k)]);
        const std::int64_t line = place_.empty() ? static_cast<std::int64_t>(c) : place_[c];
        if (columns_.coarse())
          ++cells[columns_.cell_of(line)];
        else
          ++lines[static_cast<std::size_t>(line)];
      }
    }
    if (!lines.empty())
      for (std::int64_t cell = 0; cell < columns_.cells; ++cell)
        cells[cell] = lines[static_cast<std::size_t>(columns_.line_of(cell))];
  }

 private:
  const formats::CsrView& a_;
  std::span<const std::int32_t> row_order_;
  std::vector<std::int32_t> place_;
  Axis columns_;
};

}  // namespace

Raster empty_raster(std::int64_t rows, std::int64_t cols, std::int64_t size) {
  const double longer = static_cast<double>(std::max<std::int64_t>({rows, cols, 1}));
  const auto side = [&](std::int64_t lines) {
    const double share = static_cast<double>(size) * static_cast<double>(lines) / longer;
    return std::clamp<std::int64_t>(std::llround(share), std::max<std::int64_t>(size / kMaxProportion, 1),
                                    size);
  };
  Raster raster{side(rows), side(cols), {}};
  raster.counts.assign(static_cast<std::size_t>(raster.height * raster.width), 0);
  return raster;
}

Raster rasterise(const formats::CsrView& a, std::span<const std::int32_t> row_order,
                 std::span<const std::int32_t> column_order, std::int64_t size) {
  Raster raster = empty_raster(a.rows, a.cols, size);
  if (a.nnz() == 0) return raster;
  const Axis rows{a.rows, raster.height};
  const Painter painter(a, row_order, column_order, {a.cols, raster.width});
  parallel::loop(std::int64_t{0}, raster.height, [&](std::int64_t cell) {
    const std::int64_t first = rows.coarse() ? rows.first_line(cell) : rows.line_of(cell);
    const std::int64_t last = rows.coarse() ? rows.first_line(cell + 1) : first + 1;
    painter.count(first, last, raster.counts.data() + cell * raster.width);
  });
  return raster;
}

std::int64_t max_entries(std::span<const Raster> rasters) {
  std::int64_t max = 1;
  for (const Raster& raster : rasters)
    for (const std::int64_t count : raster.counts) max = std::max(max, count);
  return max;
}

Image render(const Raster& raster, std::int64_t max) {
  Image image{raster.height, raster.width, std::vector<std::uint8_t>(raster.counts.size())};
  std::transform(raster.counts.begin(), raster.counts.end(), image.pixels.begin(), [&](std::int64_t count) {
    if (count == 0) return std::uint8_t{255};
    const double share =
        max > 1 ? std::log(static_cast<double>(count)) / std::log(static_cast<double>(max)) : 1;
    return static_cast<std::uint8_t>(std::lround(kLightest + (kDarkest - kLightest) * share));
  });
  return image;
}

Image render(std::span<const Raster> panels) {
  assert(!panels.empty());
  Image image{panels.front().height, -kGap, {}};
  for (const Raster& panel : panels) {
    assert(panel.height == image.height);
    image.width += panel.width + kGap;
  }
  image.pixels.assign(static_cast<std::size_t>(image.height * image.width), kGapShade);
  const std::int64_t max = max_entries(panels);
  std::int64_t left = 0;
  for (const Raster& panel : panels) {
    const Image painted = render(panel, max);
    for (std::int64_t y = 0; y < panel.height; ++y)
      std::copy_n(painted.pixels.begin() + y * panel.width, panel.width,
                  image.pixels.begin() + y * image.width + left);
    left += panel.width + kGap;
  }
  return image;
}

}  // namespace sptile::tools::spy
