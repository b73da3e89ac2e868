// Writer of SVG 1.1: the elements that plots need, with escaped text and numbers in the shortest form.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sptile::plot {

/// Attributes of an element; values are escaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Formats a number with at most two decimals.
std::string svg_number(double x);

/// Escapes XML special characters and replaces control characters, which XML forbids, by '?'.
std::string xml_escape(std::string_view text);

/// A document, written element by element.
class Svg {
 public:
  /// Starts a document; `style` is CSS without angle brackets.
  Svg(double width, double height, std::string_view style);

  /// Starts a part of an HTML page, without prolog or size and with the style of the page; `label` is for
  /// screen readers.
  static Svg part(double width, double height, const std::string& label);

  void open(std::string_view name, const Attributes& attributes);
  void close();  ///< closes the innermost open element
  void element(std::string_view name, const Attributes& attributes);
  void text(std::string_view name, const Attributes& attributes, std::string_view text);
  /// Writes a shape with a tooltip.
  void titled(std::string_view name, const Attributes& attributes, std::string_view title);

  /// Closes all elements and returns the document.
  std::string finish();

 private:
  Svg() = default;
  void begin(std::string_view name, const Attributes& attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace sptile::plot
