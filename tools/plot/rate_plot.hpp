// Dot plot with logarithmic axes: rates of several methods for several items.
#pragma once

#include <string>
#include <vector>

namespace sptile::plot {

/// One dot.
struct Rate {
  std::string panel;   ///< for example "N = 128"; panels are placed below each other
  std::string item;    ///< the line, such as a matrix
  std::string series;  ///< for example "bittcf tf32"
  double value = 0;    ///< others than positive ones are not drawn
};

struct RatePlot {
  std::string title, axis;       ///< title, and the unit of the values
  std::vector<Rate> rates;       ///< the maximum is drawn for equal panel, item and series
  std::string yardstick_prefix;  ///< series with this prefix are drawn as outlines
};

/// Renders the plot as SVG. Panels, items and series are in order of first appearance. Sixty series differ in
/// color or shape, touching dots are placed below each other, and the fastest dot has a label. Colors suit
/// dark and light backgrounds. Equal plots give equal bytes.
std::string draw(const RatePlot& plot);

}  // namespace sptile::plot
