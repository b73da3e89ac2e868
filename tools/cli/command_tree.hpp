// The command as data: declared verbs, their kinds and options. Help, completions, manual pages and the
// reference in docs/ are generated from it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sptile::tools {

/// The values that an option accepts.
struct ValueSpec {
  std::vector<std::string> names;
  bool closed = false;      ///< no value other than `names`
  std::string range;        ///< for example "1 to 1024"
  std::string unit;         ///< for example "rows"; empty for values without a unit
  std::string placeholder;  ///< value in usage lines and help, for example "METHOD"
};

/// Properties of an option that the parser does not store.
struct OptionFacts {
  ValueSpec values;
  std::string details;  ///< long help text
  bool common = false;  ///< declared for every verb
};
using OptionTable = std::map<const CLI::Option*, OptionFacts>;

struct OptionNode {
  std::vector<std::string> names;  ///< "-o", "--output"; for a positional "IN"
  std::string help;                ///< short help text
  std::string details;             ///< long help text, printed after the short one
  std::string type;                ///< "TEXT", "INT", "UINT", "FLOAT"; empty: a flag
  ValueSpec values;
  std::string standard;     ///< default without its unit; may be empty
  std::string environment;  ///< environment variable that sets the option
  bool positional = false, required = false, repeated = false, common = false;

  /// Returns whether the option accepts a file name: any text without a list of values.
  [[nodiscard]] bool takes_file() const { return type == "TEXT" && values.names.empty(); }
  /// Returns the placeholder, for example "METHOD", or the type of the value; empty for flags.
  [[nodiscard]] const std::string& placeholder() const {
    return values.placeholder.empty() ? type : values.placeholder;
  }
};

/// The command, a verb, or a kind of a verb. `details` and `footer` consist of paragraphs and indented
/// command lines.
struct CommandNode {
  std::string name, summary, details, footer;
  std::string json_keys;            ///< keys of a verb's JSON object
  std::vector<OptionNode> options;  ///< without inherited options: those of a verb also apply to its kinds
  std::vector<CommandNode> below;
};

CommandNode command_tree(const CLI::App& app, const OptionTable& facts);

}  // namespace sptile::tools
