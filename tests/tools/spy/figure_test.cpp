#include "tools/spy/figure.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace sptile;
namespace spy = tools::spy;

TEST_CASE("ticks are few, round, and inside, whatever the size") {
  CHECK(spy::axis_ticks(0).empty());
  CHECK(spy::axis_ticks(1) == std::vector<std::int64_t>{0});
  CHECK(spy::axis_ticks(100) == std::vector<std::int64_t>{0, 20, 40, 60, 80});
  for (const std::int64_t lines : {2, 7, 49, 501, 99999, std::numeric_limits<std::int32_t>::max()}) {
    const auto ticks = spy::axis_ticks(lines);
    CAPTURE(lines);
    CHECK(ticks.size() <= 5);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.back() < lines);
    CHECK(spy::axis_ticks(lines, 2).size() <= 2);
  }
}

TEST_CASE("labels of ticks are short") {
  CHECK(spy::tick_label(0) == "0");
  CHECK(spy::tick_label(5000) == "5000");
  CHECK(spy::tick_label(20000) == "20k");
  CHECK(spy::tick_label(1500000) == "1.5M");
  CHECK(spy::tick_label(2000000000) == "2G");
}

TEST_CASE("a drawing has a picture for each panel, and captions stay text") {
  spy::Panel panel{spy::empty_raster(3, 5, 16), 3, 5, "<b>&"};
  const auto svg = spy::draw_document(std::vector{panel, panel}, "a \"name\"");
  REQUIRE(svg.has_value());
  CHECK(svg->find("<b>") == std::string::npos);
  CHECK(svg->find("&lt;b&gt;&amp;") != std::string::npos);
  CHECK(svg->find("data:image/png;base64,iVBOR") != svg->rfind("data:image/png;base64,iVBOR"));
  CHECK(*spy::draw_document(std::vector{panel, panel}, "a \"name\"") == *svg);
}

TEST_CASE("a drawing of a narrow matrix is as wide as what is written on it") {
  const spy::Panel panel{spy::empty_raster(20000, 3, 480), 20000, 3, "original order"};
  const auto width = [&](const std::string& caption) {
    const std::string svg = spy::draw_document({&panel, 1}, caption).value_or("");
    const std::size_t at = svg.find("width=\"");
    REQUIRE(at != std::string::npos);
    return std::stod(svg.substr(at + 7));
  };
  CHECK(width("") >= 100);
  CHECK(width(std::string(100, 'n')) >= 600);
}
