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
    ".hollow{fill-opacity:0;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}}";
// Middling lightness: they stand out from white and from black.
constexpr std::array<const char*, 8> kColours = {"#2f8be0", "#e0761b", "#23a26d", "#c2519a",
                                                 "#8a6fe0", "#b8930a", "#d94a3c", "#2fa9bd"};
constexpr std::size_t kShapes = 4;
constexpr double kWidth = 900, kMargin = 12, kLineHeight = 18, kDot = 4.5, kCharacter = 6.7;

using Names = std::vector<std::string>;

void add(Names& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::size_t place(const Names& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Values between powers of ten, or 1, 2 and 5 times one.
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

std::string polygon(double x, double y, std::size_t shape) {
  const double r = kDot * 1.15;
  const std::vector<std::pair<double, double>> corners =
      shape == 1   ? std::vector<std::pair<double, double>>{{-.8, -.8}, {.8, -.8}, {.8, .8}, {-.8, .8}}
      : shape == 2 ? std::vector<std::pair<double, double>>{{0, -1.1}, {1.1, 0}, {0, 1.1}, {-1.1, 0}}
                   : std::vector<std::pair<double, double>>{{0, -1.1}, {1, .8}, {-1, .8}};
  std::string points;
  for (const auto& corner : corners)
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", svg_number(x + r * corner.first),
                          svg_number(y + r * corner.second));
  return points;
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
      label_width_ = std::max(label_width_, static_cast<double>(rate.item.size()) * kCharacter);
    }
    items_.resize(panels_.size());
    for (const Rate& rate : rates_) add(items_[place(panels_, rate.panel)], rate.item);
    fit_axis();
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
  void fit_axis() {
    axis_.left = kMargin + std::min(label_width_, kWidth / 3) + 10;
    axis_.right = kWidth - 2 * kMargin;
    if (rates_.empty()) return;
    const auto [low, high] = std::minmax_element(
        rates_.begin(), rates_.end(), [](const Rate& a, const Rate& b) { return a.value < b.value; });
    axis_.low = step_below(low->value);
    axis_.high = step_above(high->value);
    if (axis_.high <= axis_.low) axis_.high = 2 * axis_.low;
  }

  [[nodiscard]] double legend_width(const std::string& name) const {
    return static_cast<double>(name.size()) * kCharacter + 26;
  }

  [[nodiscard]] double height() const {
    double x = kMargin, total = 24 + 22 + kLineHeight;
    for (const std::string& name : series_) {
      if (x + legend_width(name) > kWidth && x > kMargin) x = kMargin, total += kLineHeight;
      x += legend_width(name);
    }
    for (const Names& items : items_) total += static_cast<double>(items.size()) * kLineHeight + 58;
    return total + 16;
  }

  void draw_dot(Svg& svg, double x, double y, const std::string& series, const std::string& title) const {
    const std::size_t number = place(series_, series);
    const std::size_t shape = (number + number / kColours.size()) % kShapes;  // so that rounds differ
    const bool hollow = !plot_.yardstick_prefix.empty() &&
                        series.compare(0, plot_.yardstick_prefix.size(), plot_.yardstick_prefix) == 0;
    const std::string colour = kColours[number % kColours.size()];
    Attributes attributes = {{"fill", colour}, {"stroke", colour}};
    if (hollow) attributes.emplace_back("class", "hollow");
    if (shape == 0) {
      attributes.emplace_back("cx", svg_number(x));
      attributes.emplace_back("cy", svg_number(y));
      attributes.emplace_back("r", svg_number(kDot));
    } else {
      attributes.emplace_back("points", polygon(x, y, shape));
    }
    svg.titled(shape == 0 ? "circle" : "polygon", attributes, title);
  }

  double draw_legend(Svg& svg, double y) const {
    double x = kMargin;
    for (const std::string& name : series_) {
      if (x + legend_width(name) > kWidth && x > kMargin) x = kMargin, y += kLineHeight;
      draw_dot(svg, x + 6, y - 4, name, name);
      svg.text("text", {{"x", svg_number(x + 16)}, {"y", svg_number(y)}}, name);
      x += legend_width(name);
    }
    return y + kLineHeight;
  }

  double draw_panel(Svg& svg, std::size_t panel, double y) const {
    const Names& items = items_[panel];
    svg.text("text", {{"class", "panel"}, {"x", svg_number(kMargin)}, {"y", svg_number(y + 10)}},
             panels_[panel]);
    const double top = y + 20, bottom = top + static_cast<double>(items.size()) * kLineHeight;
    draw_grid(svg, top, bottom);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double middle = top + (static_cast<double>(i) + 0.5) * kLineHeight;
      svg.text("text",
               {{"x", svg_number(axis_.left - 8)}, {"y", svg_number(middle + 4)}, {"text-anchor", "end"}},
               items[i]);
      svg.element("line", {{"class", "line"},
                           {"x1", svg_number(axis_.left)},
                           {"x2", svg_number(axis_.right)},
                           {"y1", svg_number(middle)},
                           {"y2", svg_number(middle)}});
      for (const Rate& rate : rates_)
        if (rate.panel == panels_[panel] && rate.item == items[i])
          draw_dot(svg, axis_.at(rate.value), middle, rate.series,
                   fmt::format("{}, {}: {}", rate.item, rate.series, rate_label(rate.value)));
    }
    return bottom + 38;
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
  std::vector<Names> items_;  // of each panel
  double label_width_ = 0;
  LogAxis axis_;
};

}  // namespace

std::string draw(const RatePlot& plot) { return Drawing(plot).draw(); }

}  // namespace sptile::plot
