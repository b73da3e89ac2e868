#include "tools/plot/rate_plot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/plot/svg.hpp"

using namespace sptile::plot;

namespace {
RatePlot sample() {
  return {"Rates",
          "GFLOP/s",
          {{"N = 32", "a", "csr fp32", 120},
           {"N = 32", "a", "tall tf32", 480},
           {"N = 32", "b <&>", "csr fp32", 30},
           {"N = 128", "a", "csr fp32", 200},
           {"N = 128", "a", "cuSPARSE fp32", 100}},
          "cuSPARSE"};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Every element that is opened is closed, in the right order; quotes are paired; no stray '&'.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find("?>") + 2; (at = xml.find('<', at)) != std::string::npos;) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0 || tag.find('<') != std::string::npos) return false;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  for (std::size_t at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1))
    if (xml.find(';', at) > at + 5) return false;
  return open.empty();
}
}  // namespace

TEST_CASE("a plot is well-formed, and the same every time") {
  const std::string svg = draw(sample());
  CHECK(well_formed(svg));
  CHECK(svg == draw(sample()));
  CHECK(svg.find("b &lt;&amp;&gt;") != std::string::npos);
  CHECK(svg.find("prefers-color-scheme:dark") != std::string::npos);
}

TEST_CASE("there is a dot for each rate and each series of the legend, hollow for the yardstick") {
  const std::string svg = draw(sample());
  CHECK(count(svg, "<title>") == 5 + 3);
  CHECK(count(svg, "class=\"hollow\"") == 2);
  CHECK(count(svg, ">N = 32<") == 1);
}

TEST_CASE("the largest of several rates of one place counts, and rates that are none are left out") {
  RatePlot plot = sample();
  plot.rates.push_back({"N = 32", "a", "csr fp32", 150});
  plot.rates.push_back({"N = 32", "a", "csr fp32", 90});
  plot.rates.push_back({"N = 32", "c", "csr fp32", 0});
  plot.rates.push_back({"N = 32", "c", "csr fp32", std::numeric_limits<double>::quiet_NaN()});
  const std::string svg = draw(plot);
  CHECK(count(svg, "<title>") == 5 + 3);
  CHECK(svg.find("<title>a, csr fp32: 150</title>") != std::string::npos);
  CHECK(svg.find(">c<") == std::string::npos);
}

TEST_CASE("plots of nothing and of one dot are plots") {
  CHECK(well_formed(draw({"Nothing", "GFLOP/s", {}, ""})));
  const std::string one = draw({"One", "GFLOP/s", {{"", "a", "s", 10}}, ""});
  CHECK(well_formed(one));
  CHECK(one.find("nan") == std::string::npos);
  CHECK(one.find("inf") == std::string::npos);
}

namespace {

// What a tag says of an attribute.
std::string attribute(const std::string& tag, const std::string& name) {
  const std::size_t at = tag.find(" " + name + "=\"");
  if (at == std::string::npos) return {};
  const std::size_t first = at + name.size() + 3;
  return tag.substr(first, tag.find('"', first) - first);
}

struct Mark {
  std::string name, colour, shape;
  double x = 0, y = 0;
};

// Dots, those of the legend first. A shape is its corners around its middle.
std::vector<Mark> marks_of(const std::string& svg) {
  std::vector<Mark> marks;
  for (std::size_t at = 0; (at = svg.find("><title>", at)) != std::string::npos; ++at) {
    const std::size_t start = svg.rfind('<', at);
    const std::string tag = svg.substr(start, at - start);
    Mark mark{svg.substr(at + 8, svg.find('<', at + 8) - at - 8), attribute(tag, "fill"), "circle"};
    if (tag.starts_with("<circle")) {
      mark.x = std::stod(attribute(tag, "cx"));
      mark.y = std::stod(attribute(tag, "cy"));
    } else {
      std::vector<std::pair<double, double>> corners;
      std::istringstream points(attribute(tag, "points"));
      for (std::string point; points >> point;)
        corners.emplace_back(std::stod(point), std::stod(point.substr(point.find(',') + 1)));
      const auto [left, right] = std::minmax_element(corners.begin(), corners.end());
      mark.x = (left->first + right->first) / 2;
      mark.y = corners.front().second;
      mark.shape = std::to_string(corners.size());
      for (const auto& [x, y] : corners) mark.shape += x < mark.x - 0.1 ? "l" : x > mark.x + 0.1 ? "r" : "m";
      mark.shape += corners.front().second < corners.back().second ? "^" : "v";
    }
    marks.push_back(mark);
  }
  return marks;
}

RatePlot crowd(int series, int items) {
  RatePlot plot{"Many", "GFLOP/s", {}, "cuSPARSE"};
  for (int i = 0; i < items; ++i)
    for (int s = 0; s < series; ++s)
      plot.rates.push_back({"N = 128", "m" + std::to_string(i), "series with a name " + std::to_string(s),
                            100 + 3.0 * (s * 7 % series)});
  return plot;
}

}  // namespace

TEST_CASE("sixty series have each a look of their own") {
  const std::vector<Mark> marks = marks_of(draw(crowd(60, 1)));
  REQUIRE(marks.size() == 120);
  std::set<std::string> looks;
  for (std::size_t i = 0; i < 60; ++i) looks.insert(marks[i].colour + marks[i].shape);
  CHECK(looks.size() == 60);
  for (std::size_t i = 0; i < 60; ++i) {
    const auto same = std::find_if(marks.begin() + 60, marks.end(), [&](const Mark& mark) {
      return mark.name.find(", " + marks[i].name + ": ") != std::string::npos;
    });
    REQUIRE(same != marks.end());
    CHECK(same->colour + same->shape == marks[i].colour + marks[i].shape);
  }
}

TEST_CASE(
    "dots of twenty series do not touch, nor do the lines of the legend, and all lies within the plot") {
  const std::string svg = draw(crowd(20, 3));
  CHECK(well_formed(svg));
  const std::vector<Mark> marks = marks_of(svg);
  REQUIRE(marks.size() == 80);
  const double height = std::stod(attribute(svg.substr(svg.find("<svg")), "height"));
  for (std::size_t i = 0; i < marks.size(); ++i) {
    CHECK(marks[i].x > 0);
    CHECK(marks[i].x < 900);
    CHECK(marks[i].y < height);
    for (std::size_t k = 0; k < i; ++k)
      CHECK((std::abs(marks[i].x - marks[k].x) > 5 || std::abs(marks[i].y - marks[k].y) > 4));
  }
  const double name = 6.7 * static_cast<double>(marks[10].name.size());
  for (std::size_t i = 1; i < 20; ++i)  // names of the legend
    CHECK((marks[i].y > marks[i - 1].y + 5 || marks[i].x > marks[i - 1].x + 10 + name));
}

TEST_CASE("the fastest of each line is named beside its dot") {
  const std::string svg = draw(sample());
  CHECK(count(svg, "class=\"best\"") == 3);
  CHECK(count(svg, ">tall tf32<") == 1 + 1 + 1);  // legend: text and title
}

TEST_CASE("long names are cut where they have no room") {
  const std::string name(300, 'x');
  const std::string svg = draw({"Long", "GFLOP/s", {{"", name, name, 10}, {"", name, "b", 20}}, ""});
  CHECK(well_formed(svg));
  CHECK(count(svg, "xxx...<") == 1);
  CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("numbers are short, and text cannot break out") {
  CHECK(svg_number(1.5) == "1.5");
  CHECK(svg_number(2) == "2");
  CHECK(svg_number(-0.001) == "0");
  CHECK(svg_number(100) == "100");
  CHECK(xml_escape("a\"<b>\n&") == "a&quot;&lt;b&gt;?&amp;");
}
