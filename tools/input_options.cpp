#include "tools/input_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "tools/matrix_kinds.hpp"
#include "tools/names.hpp"

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
  return {base == "auto" ? -1 : base == "0" ? 0 : 1, row->separator, columns == "auto" ? "" : columns};
}

std::string InputOptions::typed() const {
  std::string text = real_part ? " --real-part" : "";
  if (from != "auto") text += " --from " + from;
  if (base != "auto") text += " --base " + base;
  if (separator != "auto") text += " --separator " + separator;
  if (columns != "auto") text += " --columns " + columns;
  return text;
}

void declare_input(Options& app, InputOptions& options) {
  std::vector<std::string> kinds = kind_words();
  kinds.insert(kinds.begin(), "auto");
  app.add_option("--from", options.from, "kind of the input file: edges, mtx, metis, npz, ...")
      .names("kind of file", kinds);
  app.add_flag("--real-part", options.real_part, "take the real part of a complex matrix");
  app.add_option("--base", options.base, "what the vertices of an edge list are counted from")
      .one_of({"auto", "0", "1"});
  app.add_option("--separator", options.separator, "what parts the fields of an edge list")
      .one_of(names_of(kSeparators));
  app.add_option("--columns", options.columns,
                 "columns of an edge list: source,target,weight; - for one to leave out");
}

}  // namespace sptile::tools
