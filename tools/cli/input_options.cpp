#include "tools/cli/input_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"

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
  app.add_option("--from FORMAT", options.from, "Format of the input file")
      .names("input format", kinds)
      .details(
          "A format name or a file ending: mtx, npz, metis, edges, bundle, ... `auto` inspects the contents, "
          "then "
          "the file name. Standard input has no name, so formats without a signature need this option.");
  app.add_flag("--real-part", options.real_part, "Read the real part of complex matrices")
      .details("Without it, complex matrices are an error (exit code 4).");
  app.add_option("--base BASE", options.base, "Index base of vertex ids in an edge list")
      .one_of({"auto", "0", "1"})
      .details("`auto` is 0 if a vertex 0 occurs, else 1.");
  app.add_option("--separator NAME", options.separator, "Field separator of an edge list")
      .one_of(names_of(kSeparators))
      .details("`auto` detects it from the first edge.");
  app.add_option("--columns LIST", options.columns,
                 "Columns of an edge list, for example source,target,weight")
      .details(
          "Each column is source, target, weight, time, or - for one to ignore. `auto` reads the heading; "
          "without one, the columns are source, target and an optional weight.");
}

void declare_matrix(Options& app, std::string& path) {
  app.add_option("IN", path, "Matrix to read; - is standard input").required().details(matrix_details());
}

}  // namespace sptile::tools
