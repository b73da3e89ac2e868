#include "tools/spy/figure.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cmath>

#include "tools/plot/svg.hpp"
#include "tools/spy/png.hpp"

namespace sptile::tools::spy {
namespace {

using plot::Svg, plot::svg_number;

// Layout of one panel: row numbers on the left, column numbers at the top.
constexpr double kLeft = 40, kTop = 36, kRight = 8, kSide = 360, kTick = 5, kPanelGap = 16, kFoot = 30;
constexpr double kRowTick = 14, kColumnTick = 30;  // width of a number

constexpr std::string_view kDocumentStyle =
    ":root{--ink:#1f2328;--soft:#59636e;--edge:#8c959f}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--edge:#6e7681}}"
    "text{font-family:system-ui,sans-serif}";

std::string base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

// Scales the longer side of the picture to kSide.
double scale_of(const Raster& raster) {
  return kSide / static_cast<double>(std::max(raster.height, raster.width));
}
double width_of(const Raster& raster) { return scale_of(raster) * static_cast<double>(raster.width); }
double height_of(const Raster& raster) { return scale_of(raster) * static_cast<double>(raster.height); }

// Draws a tick at `at` of an axis's length; `across` is the position of the axis.
void draw_row_tick(Svg& svg, double x, double y, std::int64_t line) {
  svg.element("path",
              {{"class", "tick"}, {"d", fmt::format("M{} {}h-{}", svg_number(x), svg_number(y), kTick)}});
  svg.text("text",
           {{"class", "number"},
            {"x", svg_number(x - kTick - 3)},
            {"y", svg_number(y + 4)},
            {"text-anchor", "end"}},
           tick_label(line));
}

void draw_column_tick(Svg& svg, double x, double y, std::int64_t line) {
  svg.element("path",
              {{"class", "tick"}, {"d", fmt::format("M{} {}v-{}", svg_number(x), svg_number(y), kTick)}});
  svg.text("text",
           {{"class", "number"},
            {"x", svg_number(x)},
            {"y", svg_number(y - kTick - 4)},
            {"text-anchor", "middle"}},
           tick_label(line));
}

double place(std::int64_t line, std::int64_t lines, double length) {
  return length * (static_cast<double>(line) + 0.5) / static_cast<double>(std::max<std::int64_t>(lines, 1));
}

// Returns the number of ticks whose labels fit.
std::int64_t ticks_in(double length, double room) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(length / room), 2, 5);
}

// Returns an estimate of the width of a line of text; the widest letters are rare.
double text_width(const std::string& text, double size) {
  return 0.62 * size * static_cast<double>(text.size());
}

Status draw_panel(Svg& svg, const Panel& panel, std::int64_t max, double left, double top) {
  const auto png = encode_png(render(panel.raster, max));
  if (!png) return tl::unexpected(png.error());
  const double width = width_of(panel.raster), height = height_of(panel.raster);
  const bool fine = panel.rows <= panel.raster.height && panel.cols <= panel.raster.width;
  svg.element("image", {{"class", fine ? "picture fine" : "picture"},
                        {"x", svg_number(left)},
                        {"y", svg_number(top)},
                        {"width", svg_number(width)},
                        {"height", svg_number(height)},
                        {"preserveAspectRatio", "none"},
                        {"href", "data:image/png;base64," + base64(*png)}});
  svg.element("rect", {{"class", "frame"},
                       {"x", svg_number(left)},
                       {"y", svg_number(top)},
                       {"width", svg_number(width)},
                       {"height", svg_number(height)}});
  for (const std::int64_t row : axis_ticks(panel.rows, ticks_in(height, kRowTick)))
    draw_row_tick(svg, left, top + place(row, panel.rows, height), row);
  for (const std::int64_t column : axis_ticks(panel.cols, ticks_in(width, kColumnTick)))
    draw_column_tick(svg, left + place(column, panel.cols, width), top, column);
  return {};
}

}  // namespace

const std::string_view kFigureStyle =
    ".frame{fill:none;stroke:var(--edge);stroke-width:1}.tick{stroke:var(--edge);stroke-width:1}"
    ".number{font-size:11px;fill:var(--soft)}.fine{image-rendering:pixelated}"
    ".caption{font-size:14px;font-weight:600;fill:var(--ink)}.note{font-size:12px;fill:var(--soft)}"
    "@media screen and (prefers-color-scheme:dark){.picture{filter:invert(.92)}}";

std::vector<std::int64_t> axis_ticks(std::int64_t lines, std::int64_t max) {
  std::int64_t step = 1;
  for (std::int64_t power = 1; step * max < lines; power *= 10)
    for (const std::int64_t factor : {1, 2, 5})
      if (step * max < lines) step = power * factor;
  std::vector<std::int64_t> ticks;
  for (std::int64_t line = 0; line < lines; line += step) ticks.push_back(line);
  return ticks;
}

std::string tick_label(std::int64_t line) {
  const auto amount = static_cast<double>(line);
  if (line < 10000) return fmt::format("{}", line);
  if (line < 1000000) return fmt::format("{:g}k", amount / 1e3);
  return line < 1000000000 ? fmt::format("{:g}M", amount / 1e6) : fmt::format("{:g}G", amount / 1e9);
}

Result<std::string> draw_document(std::span<const Panel> panels, const std::string& caption) {
  constexpr double kTitle = 26;
  double width = 0, height = 0;
  std::int64_t max = 1;
  double written = kLeft + text_width(caption, 12);  // right end of the texts
  for (const Panel& panel : panels) {
    written = std::max(written, width + kLeft + text_width(panel.caption, 14));
    width += kLeft + width_of(panel.raster) + kRight + kPanelGap;
    height = std::max(height, kTitle + kTop + height_of(panel.raster) + kFoot);
    max = std::max(max, max_entries({&panel.raster, 1}));
  }
  Svg svg(std::max(width - kPanelGap, written), height, fmt::format("{}{}", kDocumentStyle, kFigureStyle));
  double left = kLeft;
  for (const Panel& panel : panels) {
    svg.text("text", {{"class", "caption"}, {"x", svg_number(left)}, {"y", "18"}}, panel.caption);
    if (Status s = draw_panel(svg, panel, max, left, kTitle + kTop); !s) return tl::unexpected(s.error());
    left += width_of(panel.raster) + kRight + kPanelGap + kLeft;
  }
  svg.text("text", {{"class", "note"}, {"x", svg_number(kLeft)}, {"y", svg_number(height - 10)}}, caption);
  return svg.finish();
}

Result<std::string> draw_part(const Panel& panel, std::int64_t max) {
  const double width = width_of(panel.raster), height = height_of(panel.raster);
  Svg svg =
      Svg::part(kLeft + std::max(width, kSide) + kRight, kTop + height + 2,
                fmt::format("Sparsity of {} rows and {} columns, {}", panel.rows, panel.cols, panel.caption));
  if (Status s = draw_panel(svg, panel, max, kLeft, kTop); !s) return tl::unexpected(s.error());
  return svg.finish();
}

}  // namespace sptile::tools::spy
