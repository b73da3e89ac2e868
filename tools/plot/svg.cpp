#include "tools/plot/svg.hpp"

#include <fmt/format.h>

#include <cassert>

#include "formats/core/printable.hpp"

namespace sptile::plot {

std::string svg_number(double x) {
  std::string text = fmt::format("{:.2f}", x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string xml_escape(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return escaped;
}

Svg::Svg(double width, double height, std::string_view style) {
  out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"width", svg_number(width)},
               {"height", svg_number(height)},
               {"viewBox", fmt::format("0 0 {} {}", svg_number(width), svg_number(height))}});
  out_ += fmt::format("<style>{}</style>\n", style);
}

Svg Svg::part(double width, double height, const std::string& label) {
  Svg svg;
  svg.open("svg", {{"viewBox", fmt::format("0 0 {} {}", svg_number(width), svg_number(height))},
                   {"role", "img"},
                   {"aria-label", label}});
  return svg;
}

void Svg::begin(std::string_view name, const Attributes& attributes) {
  out_ += fmt::format("<{}", name);
  for (const auto& [key, value] : attributes) out_ += fmt::format(" {}=\"{}\"", key, xml_escape(value));
}

void Svg::open(std::string_view name, const Attributes& attributes) {
  begin(name, attributes);
  out_ += ">\n";
  open_.emplace_back(name);
}

void Svg::close() {
  assert(!open_.empty());
  out_ += fmt::format("</{}>\n", open_.back());
  open_.pop_back();
}

void Svg::element(std::string_view name, const Attributes& attributes) {
  begin(name, attributes);
  out_ += "/>\n";
}

void Svg::text(std::string_view name, const Attributes& attributes, std::string_view text) {
  begin(name, attributes);
  out_ += fmt::format(">{}</{}>\n", xml_escape(text), name);
}

void Svg::titled(std::string_view name, const Attributes& attributes, std::string_view title) {
  begin(name, attributes);
  out_ += fmt::format("><title>{}</title></{}>\n", xml_escape(title), name);
}

std::string Svg::finish() {
  while (!open_.empty()) close();
  return std::move(out_);
}

}  // namespace sptile::plot
