#include "tools/report/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reorder/quality/quality.hpp"
#include "tools/plot/svg.hpp"
#include "tools/report/text.hpp"

namespace sptile::tools::report {
namespace {

using plot::Svg, plot::svg_number;

constexpr double kWidth = 400, kHeight = 236, kLeft = 44, kTop = 14, kBottom = kHeight - 40;

// Returns at most 5 round steps from 0 to `max`.
std::vector<double> value_ticks(double max) {
  double step = std::pow(10, std::floor(std::log10(std::max(max, 1e-3))) - 1);
  for (int i = 0; max / step > 4; ++i) step *= i % 3 == 1 ? 2.5 : 2;
  std::vector<double> ticks;
  for (int i = 0; i * step <= max * 1.0001; ++i) ticks.push_back(i * step);
  return ticks;
}

double height_at(double value, double max) { return kBottom - (kBottom - kTop) * value / max; }

std::string value_label(double value) {
  return value >= 10000 ? fmt::format("{:g}k", value / 1000) : fmt::format("{:g}", value);
}

void draw_values(Svg& svg, double max, double right) {
  for (const double tick : value_ticks(max)) {
    const double y = height_at(tick, max);
    svg.element("path",
                {{"class", "grid"},
                 {"d", fmt::format("M{} {}H{}", svg_number(kLeft), svg_number(y), svg_number(right))}});
    svg.text(
        "text",
        {{"class", "number"}, {"x", svg_number(kLeft - 6)}, {"y", svg_number(y + 4)}, {"text-anchor", "end"}},
        value_label(tick));
  }
}

void draw_axis_name(Svg& svg, double right, const std::string& name) {
  svg.text("text",
           {{"class", "note"},
            {"x", svg_number((kLeft + right) / 2)},
            {"y", svg_number(kHeight - 6)},
            {"text-anchor", "middle"}},
           name);
}

std::string bin_label(const LengthBin& bin) {
  return bin.min == bin.max ? value_label(static_cast<double>(bin.min))
                            : fmt::format("\u2264{}", value_label(static_cast<double>(bin.max)));
}

// A line of the quality chart, and the position of its label.
struct Line {
  const OrderTried* order;
  const char* kind;
  double label_y;
};

// Separates overlapping labels: from the top, each at least a line below the previous one, then upwards from
// the bottom.
void spread_labels(std::vector<Line>& lines) {
  constexpr double kStep = 14;
  std::ranges::sort(lines, {}, &Line::label_y);
  for (std::size_t i = 1; i < lines.size(); ++i)
    lines[i].label_y = std::max(lines[i].label_y, lines[i - 1].label_y + kStep);
  double below = kBottom + kStep;
  for (std::size_t i = lines.size(); i-- > 0; below = lines[i].label_y)
    lines[i].label_y = std::min(lines[i].label_y, below - kStep);
}

std::string short_label(const std::string& label) {
  constexpr std::size_t kMax = 15;
  return label.size() <= kMax ? label : label.substr(0, kMax - 1) + "\u2026";
}

}  // namespace

std::string length_chart(const Report& report) {
  constexpr double kRight = kWidth - 6;
  std::int64_t max = 1;
  for (const LengthBin& bin : report.row_bins) max = std::max(max, bin.lines);
  const auto top = static_cast<double>(max);
  Svg svg = Svg::part(kWidth, kHeight, "Bar chart: number of rows by row length");
  draw_values(svg, top, kRight);
  const std::size_t count = std::max<std::size_t>(report.row_bins.size(), 1);
  const double step = (kRight - kLeft) / static_cast<double>(count);
  const std::size_t every = (count + 8) / 9;  // distance of labels that fit
  for (std::size_t i = 0; i < report.row_bins.size(); ++i) {
    const LengthBin& bin = report.row_bins[i];
    const double x = kLeft + step * static_cast<double>(i),
                 y = height_at(static_cast<double>(bin.lines), top);
    const std::string entries =
        bin.min == bin.max ? grouped(bin.min) : fmt::format("{} to {}", grouped(bin.min), grouped(bin.max));
    svg.titled("rect",
               {{"class", "bar"},
                {"x", svg_number(x + step * .1)},
                {"y", svg_number(y)},
                {"width", svg_number(step * .8)},
                {"height", svg_number(bin.lines > 0 ? std::max(kBottom - y, 1.0) : 0)}},
               fmt::format("{} rows with {} entries", grouped(bin.lines), entries));
    if (i % every == 0)
      svg.text("text",
               {{"class", "number"},
                {"x", svg_number(x + step / 2)},
                {"y", svg_number(kBottom + 15)},
                {"text-anchor", "middle"}},
               bin_label(bin));
  }
  draw_axis_name(svg, kRight, "entries per row");
  return svg.finish();
}

std::string quality_chart(const Report& report) {
  constexpr double kRight = kWidth - 104;
  double max = 1;
  std::vector<Line> lines;
  for (std::size_t i = 0; i < report.orders.size(); ++i) {
    const OrderTried& order = report.orders[i];
    if (!order.refused.empty()) continue;
    for (const reorder::WindowQuality& q : order.quality.windows) max = std::max(max, q.mean_nnz_tc);
    lines.push_back({&order, i == report.best_order ? "best" : i == 0 ? "given" : "other", 0});
  }
  for (Line& line : lines) line.label_y = height_at(line.order->quality.windows.back().mean_nnz_tc, max) + 4;
  spread_labels(lines);
  std::ranges::stable_sort(lines, [](const Line& a, const Line& b) {  // important lines are drawn last
    const auto rank = [](const Line& l) { return l.kind[0] == 'b' ? 2 : l.kind[0] == 'g' ? 1 : 0; };
    return rank(a) < rank(b);
  });
  Svg svg = Svg::part(kWidth, kHeight, "Line chart: entries per block by window height, for each ordering");
  draw_values(svg, max, kRight);
  const std::size_t heights = std::size(reorder::kQualityHeights);
  const auto x_of = [&](std::size_t i) {
    return kLeft + 10 + (kRight - kLeft - 20) * static_cast<double>(i) / static_cast<double>(heights - 1);
  };
  for (std::size_t i = 0; i < heights; ++i)
    svg.text("text",
             {{"class", "number"},
              {"x", svg_number(x_of(i))},
              {"y", svg_number(kBottom + 15)},
              {"text-anchor", "middle"}},
             fmt::format("{}", reorder::kQualityHeights[i]));
  for (const Line& line : lines) {
    std::string path;
    for (std::size_t i = 0; i < heights; ++i)
      path += fmt::format("{}{} {}", i == 0 ? "M" : "L", svg_number(x_of(i)),
                          svg_number(height_at(line.order->quality.windows[i].mean_nnz_tc, max)));
    svg.titled("path", {{"class", fmt::format("line {}", line.kind)}, {"d", path}}, line.order->label);
    for (std::size_t i = 0; i < heights; ++i) {
      const reorder::WindowQuality& q = line.order->quality.windows[i];
      svg.titled(
          "circle",
          {{"class", fmt::format("dot {}", line.kind)},
           {"cx", svg_number(x_of(i))},
           {"cy", svg_number(height_at(q.mean_nnz_tc, max))},
           {"r", "3"}},
          fmt::format("{}, windows of {} rows: {:.2f}", line.order->label, q.window_rows, q.mean_nnz_tc));
    }
    svg.text("text",
             {{"class", fmt::format("name {}", line.kind)},
              {"x", svg_number(kRight + 4)},
              {"y", svg_number(line.label_y)}},
             short_label(line.order->label));
  }
  draw_axis_name(svg, kRight, "rows per window");
  return svg.finish();
}

}  // namespace sptile::tools::report
