// Dots on logarithmic axes: how fast each of several ways is on each of several things.
#pragma once

#include <string>
#include <vector>

namespace sptile::plot {

/// One dot.
struct Rate {
  std::string panel;   ///< "N = 128": panels stand below each other
  std::string item;    ///< the line: a matrix
  std::string series;  ///< "bittcf tf32"
  double value = 0;    ///< positive; others are not drawn
};

struct RatePlot {
  std::string title, axis;       ///< what is shown, and the unit of the values
  std::vector<Rate> rates;       ///< of the same place and series the largest counts
  std::string yardstick_prefix;  ///< series that start like this are drawn hollow
};

/// Draws the plot as SVG. Panels, items and series stand in the order in which they come first. Sixty series
/// differ by colour or shape, dots that would touch stand below each other, and the name of the fastest
/// stands beside its dot. Colours suit dark and light backgrounds. The same plot gives the same bytes.
std::string draw(const RatePlot& plot);

}  // namespace sptile::plot
