// Writes SVG 1.1: the few elements that plots need, text escaped, numbers in the shortest form.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sptile::plot {

/// Attributes of an element; values are escaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// A number as SVG takes it: at most two digits after the point.
std::string svg_number(double x);

/// Replaces what XML gives a meaning to; control characters, which XML forbids, become '?'.
std::string xml_escape(std::string_view text);

/// One document, grown element by element.
class Svg {
 public:
  /// `style` is CSS, with no angle brackets.
  Svg(double width, double height, std::string_view style);

  /// A part of an HTML page: no prolog, no size of its own, the style of the page; `label` is read aloud.
  static Svg part(double width, double height, const std::string& label);

  void open(std::string_view name, const Attributes& attributes);
  void close();  ///< the element that was opened last
  void element(std::string_view name, const Attributes& attributes);
  void text(std::string_view name, const Attributes& attributes, std::string_view text);
  /// A shape with a text that browsers show under the pointer.
  void titled(std::string_view name, const Attributes& attributes, std::string_view title);

  /// Closes everything and gives the document.
  std::string finish();

 private:
  Svg() = default;
  void begin(std::string_view name, const Attributes& attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace sptile::plot
