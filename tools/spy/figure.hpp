// Spy plots with axes and captions, as SVG documents or parts of a page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "tools/spy/raster.hpp"

namespace sptile::tools::spy {

/// A picture of a matrix in one order.
struct Panel {
  Raster raster;
  std::int64_t rows = 0, cols = 0;  ///< sizes of the matrix
  std::string caption;              ///< for example "original order"
};

/// Returns the ticks of an axis of `lines` rows or columns: at most `max` (>= 2) round numbers from 0, each
/// below `lines`.
std::vector<std::int64_t> axis_ticks(std::int64_t lines, std::int64_t max = 5);

/// Returns the label of a tick, such as "0", "500", "20k" or "1.5M".
std::string tick_label(std::int64_t line);

/// Renders panels side by side with a common gray scale as an SVG document with `caption` at the bottom.
/// Equal panels give equal bytes. Errors as for encode_png.
Result<std::string> draw_document(std::span<const Panel> panels, const std::string& caption);

/// Renders one panel as a part of an HTML page with the classes of kFigureStyle; black is `max` entries.
Result<std::string> draw_part(const Panel& panel, std::int64_t max);

/// CSS of the figures; colors are variables of the page: --ink, --soft (lighter) and --edge (lines).
extern const std::string_view kFigureStyle;

}  // namespace sptile::tools::spy
