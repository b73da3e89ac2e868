#include "tools/plot/rate_plot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

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

TEST_CASE("numbers are short, and text cannot break out") {
  CHECK(svg_number(1.5) == "1.5");
  CHECK(svg_number(2) == "2");
  CHECK(svg_number(-0.001) == "0");
  CHECK(svg_number(100) == "100");
  CHECK(xml_escape("a\"<b>\n&") == "a&quot;&lt;b&gt;?&amp;");
}
