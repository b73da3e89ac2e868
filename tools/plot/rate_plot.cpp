#include "tools/plot/rate_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tools/plot/svg.hpp"

namespace sptile::plot {
namespace {

constexpr std::string_view kStyle =
    "text{font:12px sans-serif;fill:#24292f}.title{font-size:15px;font-weight:bold}.panel{font-weight:bold}"
    ".grid{stroke:#8c959f;stroke-opacity:.35}.line{stroke:#8c959f;stroke-opacity:.18}"
    ".best{font-size:11px}.hollow{fill-opacity:0;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}}";
// Medium lightness, with contrast to white and black.
constexpr std::array<const char*, 10> kColours = {"#2f8be0", "#e0761b", "#23a26d", "#c2519a", "#8a6fe0",
                                                  "#b8930a", "#d94a3c", "#2fa9bd", "#8c6d4f", "#7f8b2e"};

using Corners = std::vector<std::pair<double, double>>;
// Marker shapes; no corners: a circle. Their number has no common factor with the number of colors plus one,
// so that 60 series differ.
const std::array<Corners, 6> kShapes = {{{},
                                         {{-.8, -.8}, {.8, -.8}, {.8, .8}, {-.8, .8}},
                                         {{0, -1.1}, {1.1, 0}, {0, 1.1}, {-1.1, 0}},
                                         {{0, -1.1}, {1, .8}, {-1, .8}},
                                         {{0, 1.1}, {1, -.8}, {-1, -.8}},
                                         {{-.3, -1},
                                          {.3, -1},
                                          {.3, -.3},
                                          {1, -.3},
                                          {1, .3},
                                          {.3, .3},
                                          {.3, 1},
                                          {-.3, 1},
                                          {-.3, .3},
                                          {-1, .3},
                                          {-1, -.3},
                                          {-.3, -.3}}}};
constexpr double kWidth = 900, kMargin = 12, kLineHeight = 18, kDot = 4.5, kCharacter = 6.7, kLane = 11;

using Names = std::vector<std::string>;

void add(Names& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::size_t place(const Names& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// A logarithmic axis that ends at powers of ten, or 1, 2 and 5 times one.
struct LogAxis {
  double low = 1, high = 10, left = 0, right = kWidth;

  [[nodiscard]] double at(double value) const {
    return left + (right - left) * std::log(value / low) / std::log(high / low);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> found;
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high * 1.001; power *= 10)
      for (const double step : {1.0, 2.0, 5.0})
        if (const double tick = power * step; tick >= low * 0.999 && tick <= high * 1.001)
          found.push_back(tick);
    return found;
  }
};

double step_below(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  return power * (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1);
}

double step_above(double x) {
  const double below = step_below(x);
  const double power = std::pow(10, std::floor(std::log10(x)));
  return below >= x ? x : below < 2 * power ? 2 * power : below < 5 * power ? 5 * power : 10 * power;
}

std::string rate_label(double rate) {
  return rate < 1000 ? fmt::format("{:.3g}", rate) : fmt::format("{:.0f}", rate);
}

std::string tick_label(double tick) { return fmt::format("{:g}", tick); }

std::string polygon(double x, double y, const Corners& corners) {
  const double r = kDot * 1.15;
  std::string points;
  for (const auto& corner : corners)
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", svg_number(x + r * corner.first),
                          svg_number(y + r * corner.second));
  return points;
}

double width_of(const std::string& text) { return static_cast<double>(text.size()) * kCharacter; }

// Returns the text, truncated to a width.
std::string fitted(const std::string& text, double width) {
  if (width_of(text) <= width) return text;
  return text.substr(0, static_cast<std::size_t>(std::max(width / kCharacter - 3, 1.0))) + "...";
}

struct Dot {
  const Rate* rate;
  double x;
  std::size_t lane;  // vertical position: touching dots are placed below each other
};

// The dots of one item in one panel.
struct Line {
  std::string item;
  std::vector<Dot> dots;  // in ascending order
  std::size_t lanes = 1;

  [[nodiscard]] double height() const { return kLineHeight + static_cast<double>(lanes - 1) * kLane; }
};

// Assigns each dot to the first lane in which it touches no other.
void take_lanes(Line& line) {
  std::stable_sort(line.dots.begin(), line.dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
  std::vector<double> ends;  // right ends of the lanes
  for (Dot& dot : line.dots) {
    const auto lane = std::find_if(ends.begin(), ends.end(), [&](double end) { return end <= dot.x; });
    dot.lane = static_cast<std::size_t>(lane - ends.begin());
    if (lane == ends.end()) ends.emplace_back();
    ends[dot.lane] = dot.x + kLane;
  }
  line.lanes = std::max<std::size_t>(ends.size(), 1);
}

class Drawing {
 public:
  explicit Drawing(const RatePlot& plot) : plot_(plot) {
    std::map<std::array<std::string, 3>, std::size_t> known;
    for (const Rate& rate : plot.rates) {
      if (!(rate.value > 0) || !std::isfinite(rate.value)) continue;
      add(series_, rate.series);
      const auto [same, is_new] = known.try_emplace({rate.panel, rate.item, rate.series}, rates_.size());
      if (is_new)
        rates_.push_back(rate);
      else
        rates_[same->second].value = std::max(rates_[same->second].value, rate.value);
    }
    for (const Rate& rate : rates_) {
      add(panels_, rate.panel);
      item_width_ = std::max(item_width_, width_of(rate.item));
      series_width_ = std::max(series_width_, width_of(rate.series));
    }
    item_width_ = std::min(item_width_, kWidth / 3);
    label_width_ = std::min(series_width_, kWidth / 4);
    fit_axis();
    for (const std::string& panel : panels_) lines_.push_back(lines_of(panel));
  }

  std::string draw() {
    Svg svg(kWidth, height(), kStyle);
    double y = 24;
    svg.text("text", {{"class", "title"}, {"x", svg_number(kMargin)}, {"y", svg_number(y)}}, plot_.title);
    y = draw_legend(svg, y + 22);
    for (std::size_t panel = 0; panel < panels_.size(); ++panel) y = draw_panel(svg, panel, y);
    svg.text("text",
             {{"x", svg_number((axis_.left + axis_.right) / 2)},
              {"y", svg_number(y + 4)},
              {"text-anchor", "middle"}},
             plot_.axis);
    return svg.finish();
  }

 private:
  [[nodiscard]] std::vector<Line> lines_of(const std::string& panel) const {
    Names items;
    for (const Rate& rate : rates_)
      if (rate.panel == panel) add(items, rate.item);
    std::vector<Line> lines;
    for (const std::string& item : items) lines.push_back({item, {}});
    for (const Rate& rate : rates_)
      if (rate.panel == panel)
        lines[place(items, rate.item)].dots.push_back({&rate, axis_.at(rate.value), 0});
    for (Line& line : lines) take_lanes(line);
    return lines;
  }

  void fit_axis() {
    axis_.left = kMargin + item_width_ + 10;
    axis_.right = kWidth - 2 * kMargin - label_width_;
    if (rates_.empty()) return;
    const auto [low, high] = std::minmax_element(
        rates_.begin(), rates_.end(), [](const Rate& a, const Rate& b) { return a.value < b.value; });
    axis_.low = step_below(low->value);
    axis_.high = step_above(high->value);
    if (axis_.high <= axis_.low) axis_.high = 2 * axis_.low;
  }

  [[nodiscard]] double legend_width() const { return series_width_ + 30; }

  // Returns the number of legend columns that fit.
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(std::max((kWidth - 2 * kMargin) / legend_width(), 1.0));
  }

  [[nodiscard]] static double height_of(const std::vector<Line>& lines) {
    double height = 0;
    for (const Line& line : lines) height += line.height();
    return height;
  }

  [[nodiscard]] double height() const {
    const std::size_t legend_lines = (series_.size() + columns() - 1) / columns();
    double total = 24 + 22 + static_cast<double>(legend_lines) * kLineHeight;
    for (const std::vector<Line>& lines : lines_) total += height_of(lines) + 58;
    return total + 16;
  }

  void draw_dot(Svg& svg, double x, double y, const std::string& series, const std::string& title) const {
    const std::size_t number = place(series_, series);
    const Corners& shape = kShapes[(number + number / kColours.size()) % kShapes.size()];
    const bool hollow = !plot_.yardstick_prefix.empty() &&
                        series.compare(0, plot_.yardstick_prefix.size(), plot_.yardstick_prefix) == 0;
    const std::string colour = kColours[number % kColours.size()];
    Attributes attributes = {{"fill", colour}, {"stroke", colour}};
    if (hollow) attributes.emplace_back("class", "hollow");
    if (shape.empty()) {
      attributes.emplace_back("cx", svg_number(x));
      attributes.emplace_back("cy", svg_number(y));
      attributes.emplace_back("r", svg_number(kDot));
    } else {
      attributes.emplace_back("points", polygon(x, y, shape));
    }
    svg.titled(shape.empty() ? "circle" : "polygon", attributes, title);
  }

  double draw_legend(Svg& svg, double y) const {
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const double x = kMargin + static_cast<double>(i % columns()) * legend_width();
      if (i > 0 && i % columns() == 0) y += kLineHeight;
      draw_dot(svg, x + 6, y - 4, series_[i], series_[i]);
      svg.text("text", {{"x", svg_number(x + 16)}, {"y", svg_number(y)}}, series_[i]);
    }
    return y + kLineHeight;
  }

  double draw_panel(Svg& svg, std::size_t panel, double y) const {
    svg.text("text", {{"class", "panel"}, {"x", svg_number(kMargin)}, {"y", svg_number(y + 10)}},
             panels_[panel]);
    const double top = y + 20, bottom = top + height_of(lines_[panel]);
    draw_grid(svg, top, bottom);
    double at = top;
    for (const Line& line : lines_[panel]) at = draw_line(svg, line, at);
    return bottom + 38;
  }

  double draw_line(Svg& svg, const Line& line, double top) const {
    const double middle = top + line.height() / 2, bottom = top + line.height();
    svg.text("text",
             {{"x", svg_number(axis_.left - 8)}, {"y", svg_number(middle + 4)}, {"text-anchor", "end"}},
             fitted(line.item, item_width_));
    svg.element("line", {{"class", "line"},
                         {"x1", svg_number(axis_.left)},
                         {"x2", svg_number(axis_.right)},
                         {"y1", svg_number(bottom)},
                         {"y2", svg_number(bottom)}});
    const auto y_of = [&](const Dot& dot) {
      return top + kLineHeight / 2 + static_cast<double>(dot.lane) * kLane;
    };
    for (const Dot& dot : line.dots)
      draw_dot(svg, dot.x, y_of(dot), dot.rate->series,
               fmt::format("{}, {}: {}", line.item, dot.rate->series, rate_label(dot.rate->value)));
    const Dot& fastest = line.dots.back();
    svg.text("text",
             {{"class", "best"}, {"x", svg_number(fastest.x + 9)}, {"y", svg_number(y_of(fastest) + 4)}},
             fitted(fastest.rate->series, label_width_));
    return bottom;
  }

  void draw_grid(Svg& svg, double top, double bottom) const {
    for (const double tick : axis_.ticks()) {
      const std::string x = svg_number(axis_.at(tick));
      svg.element(
          "line",
          {{"class", "grid"}, {"x1", x}, {"x2", x}, {"y1", svg_number(top)}, {"y2", svg_number(bottom)}});
      svg.text("text", {{"x", x}, {"y", svg_number(bottom + 15)}, {"text-anchor", "middle"}},
               tick_label(tick));
    }
  }

  const RatePlot& plot_;
  std::vector<Rate> rates_;
  Names panels_, series_;
  std::vector<std::vector<Line>> lines_;  // for each panel
  double item_width_ = 0, series_width_ = 0, label_width_ = 0;
  LogAxis axis_;
};

}  // namespace

std::string draw(const RatePlot& plot) { return Drawing(plot).draw(); }

}  // namespace sptile::plot
