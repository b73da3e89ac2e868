#include "formats/layout/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/layout/packed_parameter.hpp"
#include "formats/layout/rs_tile_rules.hpp"
#include "tests/source_root.hpp"

using namespace sptile::formats;

namespace {

/// All values from two below the least to two above the most; some of them where they are many.
std::vector<int> values_to_try(const FormatParameter& parameter) {
  std::vector<int> values;
  const std::int64_t min = parameter.min, max = parameter.max;
  const auto add = [&](std::int64_t value) {
    if (value <= std::numeric_limits<int>::max()) values.push_back(static_cast<int>(value));
  };
  const std::int64_t step = std::max<std::int64_t>(1, (max - min) / 200);
  for (std::int64_t value = min - 2; value <= max; value += step) add(value);
  for (const int past : {-1, 0, 1, 2}) add(max + past);
  for (const NamedValue& named : parameter.names) values.push_back(named.value);
  return values;
}

}  // namespace

TEST_CASE("registry: every format has a converter and a reference page that names its arrays") {
  REQUIRE(layouts().size() == converters().size());
  for (std::size_t i = 0; i < layouts().size(); ++i) {
    const FormatLayout& layout = *layouts()[i];
    CAPTURE(layout.name);
    CHECK(converters()[i].format == layout.name);
    std::ifstream page(sptile::source_root() / "docs/reference/formats" / (std::string(layout.name) + ".md"));
    REQUIRE(page.good());
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    for (const ArraySpec& array : layout.arrays) {
      CAPTURE(array.name);
      std::string quoted = "`";
      quoted.append(array.name).append("`");  // operator+ here trips a false warning of g++ 12 (-Wrestrict)
      CHECK(text.find(quoted) != std::string::npos);
    }
  }
}

TEST_CASE("registry: names are unique, found again, and fit the bundle") {
  std::set<std::string_view> names;
  for (const FormatLayout* layout : layouts()) {
    CHECK(names.insert(layout->name).second);
    CHECK(find_layout(layout->name) == layout);
    CHECK(find_converter(layout->name) != nullptr);
    CHECK(layout->arrays.size() <= kMaxArrays);
    for (const ArraySpec& array : layout->arrays) CHECK(layout->group.size() + 1 + array.name.size() < 72);
  }
  CHECK(find_layout("csr") == layouts()[0]);
  CHECK(find_layout("tcf") == nullptr);
  CHECK(find_converter("tcf") == nullptr);
}

TEST_CASE("registry: converters take the parameter that the layout has, and its values make sense") {
  const std::vector<std::int64_t> row_ptr{0, 2, 3};
  const std::vector<std::int32_t> columns{0, 1, 0};
  const CsrView a{2, 2, row_ptr, columns, {}};
  for (const FormatLayout* layout : layouts()) {
    CAPTURE(layout->name);
    const Converter& converter = *find_converter(layout->name);
    REQUIRE((converter.from_csr_at != nullptr) == (layout->parameter != nullptr));
    if (layout->parameter == nullptr) {
      CHECK(check_parameter(*layout, 1).error().code == sptile::Errc::usage);
      continue;
    }
    const FormatParameter& parameter = *layout->parameter;
    CHECK((parameter.standard == 0 || parameter.accepts(parameter.standard)));
    CHECK((parameter.tried.empty() || !parameter.fitted_for.empty()));
    for (const int value : parameter.tried) CHECK(parameter.accepts(value));
    for (const NamedValue& named : parameter.names) {
      CHECK(parameter.accepts(named.value));
      CHECK(value_text(parameter, named.value) == named.name);  // no other name in front has the same value
    }
    for (const int value : values_to_try(parameter)) {
      CAPTURE(value);
      const auto data = converter.from_csr_at(a, value, nullptr);
      REQUIRE(data.has_value() == parameter.accepts(value));
      if (data) CHECK(check(data->view()).has_value());
      if (!data) CHECK(data.error().message == check_parameter(*layout, value).error().message);
    }
  }
}

TEST_CASE("registry: messages name the values of a parameter") {
  CHECK(check_parameter(*find_layout("tall"), 48).error().message ==
        "tall: height 48, expected 16, 32, 64 or 128 rows");
  CHECK(check_parameter(*find_layout("libra_spmm"), 10).error().message ==
        "libra_spmm: threshold 10, expected 1 to 9 entries of 8");
  CHECK(
      check_parameter(*find_layout("hc_window"), -1).error().message ==
      "hc_window: selector -1, expected fitted, paper, tensor, cuda or 0 to 2147483647 (10 bits for each of "
      "three weights)");
  CHECK(check_parameter(*find_layout("csr"), 3).error().message == "csr has no parameter, got 3");
}

TEST_CASE("registry: fields of packed parameters are adjacent, fill the range, and their texts parse") {
  for (const FormatLayout* layout : layouts()) {
    CAPTURE(layout->name);
    const auto fields = fields_of(*layout);
    if (fields.empty()) continue;
    int shift = 0;
    for (const ParameterField& field : fields) {
      CAPTURE(field.name);
      CHECK(field.shift == shift);
      shift += field.bits;
      for (const int code : {0, 1, field.codes() / 2, field.codes() - 1}) {
        const int parameter = field.with_code(0, code);
        CHECK(field.code(parameter) == code);
        CHECK(parse_fields(*layout, fields_text(fields, parameter)) == parameter);
      }
    }
    CHECK(layout->parameter->max == (std::int64_t{1} << shift) - 1);
  }
}

TEST_CASE("registry: the settings of rs_tile have the values of their text") {
  const auto parse = [](std::string_view text) {
    const auto parameter = parse_fields(kRsTileLayout, text);
    REQUIRE_MESSAGE(parameter.has_value(), parameter.error().text());
    return rs_tile_setting(*parameter);
  };
  const RsTileSetting all = parse("tau_nnz=3,tau_inc=2,split=64,rule=large_increment");
  CHECK(all.rule == IncrementRule::large);
  CHECK(all.tau_nnz == 3);
  CHECK(all.tau_inc == 2);
  CHECK(all.split == 64);
  const RsTileSetting bounds = parse("split=2097150,tau_nnz=0,tau_inc=15,rule=none");
  CHECK(bounds.rule == IncrementRule::none);
  CHECK(bounds.tau_nnz == 0);
  CHECK(bounds.tau_inc == 15);
  CHECK(bounds.split == 2097150);
  CHECK(parse("split=none").split == std::numeric_limits<std::int32_t>::max());
  const RsTileSetting none = parse("rule=auto,split=auto");
  CHECK_FALSE((none.rule || none.tau_nnz || none.tau_inc || none.split));
}
