#include "formats/layout/registry.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>

#include "formats/convert/converters.hpp"
#include "tests/source_root.hpp"

using namespace sptile::formats;

TEST_CASE("registry: every format has a converter and a page in docs/formats that names its arrays") {
  REQUIRE(layouts().size() == converters().size());
  for (std::size_t i = 0; i < layouts().size(); ++i) {
    const FormatLayout& layout = *layouts()[i];
    CAPTURE(layout.name);
    CHECK(converters()[i].format == layout.name);
    std::ifstream page(sptile::source_root() / "docs/formats" / (std::string(layout.name) + ".md"));
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
