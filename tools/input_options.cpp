#include "tools/input_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace sptile::tools {
namespace {

struct SeparatorRow {
  std::string_view name;
  char separator;
};
constexpr SeparatorRow kSeparators[] = {
    {"auto", 0}, {"blank", ' '}, {"tab", '\t'}, {"comma", ','}, {"semicolon", ';'}};

}  // namespace

formats::EdgeListOptions InputOptions::edges() const {
  const auto* const row = std::find_if(std::begin(kSeparators), std::end(kSeparators),
                                       [this](const SeparatorRow& r) { return r.name == separator; });
  return {base == "auto" ? -1 : base == "0" ? 0 : 1, row->separator};
}

std::string InputOptions::typed() const {
  std::string text = real_part ? " --real-part" : "";
  if (base != "auto") text += " --base " + base;
  if (separator != "auto") text += " --separator " + separator;
  return text;
}

void declare_input(Options& app, InputOptions& options) {
  std::vector<std::string> separators;
  for (const SeparatorRow& row : kSeparators) separators.emplace_back(row.name);
  app.add_flag("--real-part", options.real_part, "take the real part of a complex matrix");
  app.add_option("--base", options.base, "what the vertices of an edge list are counted from")
      .one_of({"auto", "0", "1"});
  app.add_option("--separator", options.separator, "what parts the fields of an edge list")
      .one_of(separators);
}

}  // namespace sptile::tools
