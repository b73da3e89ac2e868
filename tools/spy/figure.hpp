// Spy pictures with axes and captions, as SVG: for a file of their own, or for a page.
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
  std::int64_t rows = 0, cols = 0;  ///< of the matrix
  std::string caption;              ///< "original order"
};

/// Where a tick of an axis of `lines` rows or columns stands: at most `most` round numbers (2 or more), from
/// 0 on, each below `lines`.
std::vector<std::int64_t> axis_ticks(std::int64_t lines, std::int64_t most = 5);

/// "0", "500", "20k", "1.5M": of a tick.
std::string tick_label(std::int64_t line);

/// Draws panels side by side, in one scale of shades, as an SVG document. `caption` stands below. The same
/// panels give the same bytes. Errors as encode_png.
Result<std::string> draw_document(std::span<const Panel> panels, const std::string& caption);

/// Draws one panel as a part of an HTML page with the classes of kFigureStyle, black being `most` entries.
Result<std::string> draw_part(const Panel& panel, std::int64_t most);

/// CSS of what is drawn; colours are variables of the page: --ink, --soft (lighter) and --edge (lines).
extern const std::string_view kFigureStyle;

}  // namespace sptile::tools::spy
