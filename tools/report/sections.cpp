#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reorder/quality/quality.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/units.hpp"
#include "tools/plot/svg.hpp"
#include "tools/report/charts.hpp"
#include "tools/report/page.hpp"
#include "tools/report/recommend.hpp"
#include "tools/report/text.hpp"

namespace sptile::tools::report {
namespace {

using plot::xml_escape;
using runtime::Candidate;

std::string section(const char* id, const char* title, const std::string& body) {
  return fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", id, title,
                     body);
}

std::string fact(const char* what, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", what, value);
}

std::string percent_text(double share) {
  return share > 0 && share < 0.01 ? fmt::format("{:.2g} %", 100 * share)
                                   : fmt::format("{:.1f} %", 100 * share);
}

// Returns the style of a bar's width as a fraction of the track.
std::string width_style(double part, double whole) {
  return fmt::format("width:{:.2f}%", whole > 0 ? std::clamp(100 * part / whole, 0.0, 100.0) : 0.0);
}

std::string order_words(const Report& report, std::size_t order) {
  return order == 0 ? "original order" : "ordered by " + report.orders[order].label;
}

// Returns the formats whose sizes are printed: those of the recommended order.
const FormatsInOrder& shown_formats(const Report& report) {
  return report.formats[report.advice ? report.advice->in_order : 0];
}

std::string order_row(const Report& report, std::size_t i) {
  const OrderTried& order = report.orders[i];
  const std::string label = xml_escape(order.label);
  if (!order.refused.empty())
    return fmt::format(
        "<tr class=\"quiet\"><th scope=\"row\">{}</th><td class=\"why\" colspan=\"{}\">{}</td></tr>\n", label,
        std::size(reorder::kQualityHeights) + 1, xml_escape(order.refused));
  std::string cells;
  for (const reorder::WindowQuality& q : order.quality.windows)
    cells += fmt::format("<td>{:.2f}</td>", q.mean_nnz_tc);
  return fmt::format("<tr{}><th scope=\"row\">{}</th>{}<td class=\"wide\">{}</td></tr>\n",
                     i == report.best_order ? " class=\"chosen\"" : "",
                     i == 0 ? label + " <small>original</small>" : label, cells,
                     i == 0 ? "-" : human_seconds(order.seconds));
}

std::string size_row(const FormatRow& row, double max, std::int64_t csr, bool chosen) {
  const std::string name = xml_escape(row.name);
  if (!row.refused.empty())
    return fmt::format(
        "<tr class=\"quiet\"><th scope=\"row\">{}</th><td class=\"why\" colspan=\"4\">{}</td></tr>\n", name,
        xml_escape(row.refused));
  const std::int64_t total = row.index_bytes + row.value_bytes;
  return fmt::format(
      "<tr{}><th scope=\"row\">{}<div class=\"track\" aria-hidden=\"true\"><i style=\"{}\"></i><i "
      "class=\"second\" "
      "style=\"{}\"></i></div></th><td class=\"wide\">{}</td><td "
      "class=\"wide\">{}</td><td>{}</td><td>{}</td></tr>\n",
      chosen       ? " class=\"chosen\""
      : row.stored ? ""
                   : " class=\"quiet\"",
      row.stored ? name : name + " *", width_style(static_cast<double>(row.index_bytes), max),
      width_style(static_cast<double>(row.value_bytes), max), human_bytes(row.index_bytes),
      human_bytes(row.value_bytes), human_bytes(total),
      csr > 0 ? fmt::format("{:.2f}", static_cast<double>(total) / static_cast<double>(csr)) : "-");
}

// Scale of the product bars; the longest is `max`.
struct ProductScale {
  bool times = false;      ///< otherwise bytes
  bool predicted = false;  ///< some of the times are predicted
  double max = 0;
};

ProductScale scale_of(const Report& report) {
  ProductScale scale;
  for (const FormatsInOrder& formats : report.formats)
    for (const Candidate& c : formats.candidates) scale.times |= time_of(c).has_value();
  for (const FormatsInOrder& formats : report.formats)
    for (const Candidate& c : formats.candidates) {
      if (!c.refused.empty()) continue;
      if (!scale.times) scale.max = std::max(scale.max, static_cast<double>(formats.moved_bytes[c.matrix]));
      if (c.measured_us) scale.max = std::max(scale.max, *c.measured_us);
      scale.predicted |= c.predicted_us.has_value();
      if (c.predicted_us) scale.max = std::max(scale.max, *c.predicted_us);
    }
  if (scale.times) scale.max = std::max(scale.max, report.floor_us);
  return scale;
}

std::string bar(const std::string& width, const char* kind) {
  return fmt::format("<div class=\"track\" aria-hidden=\"true\"><i class=\"{}\" style=\"{}\"></i>", kind,
                     width);
}

std::string product_bars(const Report& report, const FormatsInOrder& formats, const Candidate& c,
                         const ProductScale& scale) {
  const std::string floor =
      report.floor_us > 0 && scale.times
          ? fmt::format("<b style=\"left:{:.2f}%\"></b>", 100 * report.floor_us / scale.max)
          : "";
  if (!scale.times)
    return bar(width_style(static_cast<double>(formats.moved_bytes[c.matrix]), scale.max), "second") +
           "</div>";
  std::string bars;
  if (c.measured_us) bars += bar(width_style(*c.measured_us, scale.max), "solid") + floor + "</div>";
  if (c.predicted_us) bars += bar(width_style(*c.predicted_us, scale.max), "hollow") + floor + "</div>";
  return bars;
}

std::string time_cell(const std::optional<double>& us) { return us ? human_seconds(*us * 1e-6) : "-"; }

std::string product_row(const Report& report, const FormatsInOrder& formats, const Candidate& c,
                        const ProductScale& scale) {
  const std::string kernel =
      c.kernel == nullptr ? "" : fmt::format("<small>{}</small>", xml_escape(c.kernel->name));
  if (!c.refused.empty())
    return fmt::format(
        "<tr class=\"quiet\"><th scope=\"row\">{}{}</th><td class=\"why\" colspan=\"4\">{}</td></tr>\n",
        xml_escape(c.format), kernel, xml_escape(c.refused));
  const bool known = c.measured_us && report.floor_us > 0;
  return fmt::format(
      "<tr{}><th scope=\"row\">{}{}{}</th><td{}>{}</td><td{}>{}</td><td>{}</td><td "
      "class=\"wide\">{}</td></tr>\n",
      c.chosen ? " class=\"chosen\"" : "", xml_escape(c.format), kernel,
      product_bars(report, formats, c, scale), report.measured ? " class=\"wide\"" : "",
      human_bytes(formats.moved_bytes[c.matrix]), scale.times ? "" : " class=\"wide\"",
      time_cell(c.predicted_us), time_cell(c.measured_us),
      known ? fmt::format("{:.0f} %", 100 * report.floor_us / *c.measured_us) : "-");
}

std::string product_key(const Report& report, const ProductScale& scale) {
  std::string key;
  if (!scale.times) return "<span><i class=\"second\"></i>bytes transferred</span>";
  if (report.measured) key += "<span><i></i>measured</span>";
  if (scale.predicted) key += "<span><i class=\"hollow\"></i>predicted</span>";
  if (report.floor_us > 0) key += "<span><i class=\"floor\"></i>minimum at memory bandwidth</span>";
  return key;
}

std::string amount(double value) {
  return value < 1000 ? fmt::format("{:.1f}", value) : grouped(std::llround(value));
}

}  // namespace

std::string head_section(const Report& report) {
  const double cells = static_cast<double>(report.rows) * static_cast<double>(report.cols);
  return fmt::format(
      "<header>\n<p class=\"kicker\">sptile report</p>\n<h1><bdi>{}</bdi></h1>\n<p class=\"lead\">A {} "
      "sparse "
      "matrix, {}.</p>\n<dl class=\"facts\">\n{}{}{}{}{}</dl>\n</header>\n",
      xml_escape(report.name),
      report.symmetric             ? "symmetric"
      : report.rows == report.cols ? "square"
                                   : "rectangular",
      report.dtype == DType::none ? "a pattern without values"
                                  : fmt::format("values in {}", dtype_label(report.dtype)),
      fact("rows", grouped(report.rows)), fact("columns", grouped(report.cols)),
      fact("entries", grouped(report.nnz)),
      fact("of all positions", cells > 0 ? percent_text(static_cast<double>(report.nnz) / cells) : "-"),
      fact("entries per row, mean", amount(report.row_nnz.mean)));
}

std::string advice_section(const Report& report) {
  if (!report.advice)
    return section(
        "advice", "Nothing to recommend",
        "<p>No kernel of this device supports the requested operation; see the table of run times.</p>\n");
  constexpr const char* kWords[] = {"measured here", "predicted", "by bytes transferred"};
  const std::size_t order = report.formats[report.advice->in_order].order;
  const std::string rows =
      order == 0 ? "Keep the original row order"
                 : fmt::format("Order the rows by <em>{}</em>", xml_escape(report.orders[order].label));
  std::string reasons;
  for (const std::string& reason : report.advice->reasons)
    reasons += fmt::format("<li>{}</li>\n", xml_escape(reason));
  const FormatRow& size = advised_size(report);
  reasons += fmt::format("<li>The format needs {} of memory.</li>\n",
                         human_bytes(size.index_bytes + size.value_bytes));
  return fmt::format(
      "<section class=\"advice\" aria-labelledby=\"advice\">\n<p class=\"kicker\">Recommended, {}</p>\n<h2 "
      "id=\"advice\">{}, multiply in <em>{}</em>.</h2>\n<ul>\n{}</ul>\n</section>\n",
      kWords[static_cast<int>(report.advice->basis)], rows, xml_escape(advised(report).format), reasons);
}

Result<std::string> picture_section(const Report& report) {
  std::int64_t max = 1;
  for (const spy::Panel& panel : report.panels) max = std::max(max, spy::max_entries({&panel.raster, 1}));
  std::string figures;
  for (const spy::Panel& panel : report.panels) {
    const auto drawn = draw_part(panel, max);
    if (!drawn) return tl::unexpected(drawn.error());
    figures += fmt::format(
        "<figure>\n{}<figcaption><b>{}.</b> {}</figcaption>\n</figure>\n", *drawn, xml_escape(panel.caption),
        &panel == &report.panels.front()
            ? fmt::format("Darker pixels have more entries; the maximum is {} per pixel.", grouped(max))
        : report.rows == report.cols ? "Same gray scale; columns are permuted like the rows."
                                     : "Same gray scale; columns keep their order.");
  }
  const char* none = "<p>No ordering gives fewer blocks, so there is only one plot.</p>\n";
  return section(
      "pictures", "Sparsity pattern",
      fmt::format("{}<div class=\"pair\">\n{}</div>\n", report.panels.size() > 1 ? "" : none, figures));
}

std::string length_section(const Report& report) {
  const LineLengths& rows = report.row_nnz;
  const auto at = [&](int percentile) {
    const auto* const found = std::ranges::find(kPercentiles, percentile);
    return grouped(rows.percentiles[static_cast<std::size_t>(found - std::begin(kPercentiles))]);
  };
  const std::string facts = fact("shortest", grouped(rows.minimum)) + fact("median", at(50)) +
                            fact("90th percentile", at(90)) + fact("longest", grouped(rows.maximum)) +
                            fact("standard deviation", amount(rows.deviation)) +
                            fact("empty rows", grouped(rows.empty));
  return section(
      "lengths", "Row lengths",
      fmt::format("<div class=\"two-columns\">\n<dl class=\"facts\">\n{}</dl>\n<figure "
                  "class=\"chart\">\n{}<figcaption><b>Rows by their number of entries.</b> Rows of very "
                  "different lengths are hard to balance.</figcaption>\n</figure>\n</div>\n",
                  facts, length_chart(report)));
}

std::string quality_section(const Report& report) {
  std::string rows, heights;
  for (std::size_t i = 0; i < report.orders.size(); ++i) rows += order_row(report, i);
  for (const int height : reorder::kQualityHeights)
    heights += fmt::format("<th scope=\"col\">{}</th>", height);
  return section(
      "quality", "Orderings",
      fmt::format(
          "<p>The rows of a window share blocks of 8 columns. More entries per block mean fewer loads and "
          "less padding.</p>\n<figure class=\"chart\">\n{}<figcaption><b>Entries per block, by window "
          "height.</b> The best ordering is colored; the original order is "
          "dashed.</figcaption>\n</figure>\n<table "
          "class=\"heights\">\n<caption>Entries per block in windows of 8 to 128 rows, and the time of "
          "ordering.</caption>\n<thead><tr><th scope=\"col\">order</th>{}<th scope=\"col\" "
          "class=\"wide\">time</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
          quality_chart(report), heights, rows));
}

std::string size_section(const Report& report) {
  const FormatsInOrder& formats = shown_formats(report);
  double max = 0;
  std::int64_t csr = 0;
  for (const FormatRow& row : formats.sizes) {
    max = std::max(max, static_cast<double>(row.index_bytes + row.value_bytes));
    if (row.name == "csr") csr = row.index_bytes + row.value_bytes;
  }
  std::string rows;
  for (const FormatRow& row : formats.sizes)
    rows += size_row(row, max, csr, report.advice && row.name == advised(report).format);
  return section(
      "sizes", "Sizes of formats",
      fmt::format(
          "<table class=\"barred\">\n<caption>Bytes of each format, {}. <span "
          "class=\"key\"><span><i></i>index"
          "</span><span><i class=\"second\"></i>values</span></span> * for comparison "
          "only.</caption>\n<thead><tr>"
          "<th scope=\"col\">format</th><th scope=\"col\" class=\"wide\">index</th><th scope=\"col\" "
          "class=\"wide\">values</th><th scope=\"col\">total</th><th scope=\"col\">of CSR</th></tr></thead>\n"
          "<tbody>\n{}</tbody>\n</table>\n",
          xml_escape(order_words(report, formats.order)), rows));
}

std::string product_section(const Report& report) {
  const ProductScale scale = scale_of(report);
  std::string rows;
  for (const FormatsInOrder& formats : report.formats) {
    rows += fmt::format("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"5\">{}</th></tr>\n",
                        xml_escape(order_words(report, formats.order)));
    for (const Candidate& c : formats.candidates) rows += product_row(report, formats, c, scale);
  }
  const std::string floor =
      report.floor_us > 0 ? fmt::format(
                                "<p>Memory roofline: copies reach {:.1f} GB/s here, so transferring the "
                                "minimum of {} takes at least {}. Data in caches may be faster.</p>\n",
                                report.copy_rate * 1e-9, human_bytes(report.compulsory_bytes),
                                human_seconds(report.floor_us * 1e-6))
      : report.measured ? ""
                        : "<p>Nothing was measured; <code>--measure</code> runs each kernel.</p>\n";
  return section(
      "products", "Run times",
      fmt::format(
          "{}<table class=\"barred\">\n<caption>{} with N = {} on {} ({}), dense operands in {}. <span "
          "class=\"key\">{}</span></caption>\n<thead><tr><th scope=\"col\">format, kernel</th><th "
          "scope=\"col\"{}>bytes</th><th scope=\"col\"{}>predicted</th><th scope=\"col\">measured</th><th "
          "scope=\"col\" class=\"wide\">of roofline</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
          floor, xml_escape(report.op), report.n, xml_escape(report.device), xml_escape(report.device_detail),
          xml_escape(report.dense), product_key(report, scale), report.measured ? " class=\"wide\"" : "",
          scale.times ? "" : " class=\"wide\"", rows));
}

std::string command_section(const Report& report) {
  std::string lines;
  for (const std::string& command : report.commands) lines += xml_escape(command) + "\n";
  return section("commands", "Reproduce", fmt::format("<pre><code>{}</code></pre>\n", lines));
}

}  // namespace sptile::tools::report
