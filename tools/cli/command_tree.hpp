// The command as data: verbs, their kinds and options, as they were declared. Help, completions, manual pages
// and the reference in docs/ are generated from it.
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
  std::string range;        ///< "1 to 1024"
  std::string unit;         ///< "rows"; empty for values without a unit
  std::string placeholder;  ///< "METHOD": the value in usage lines and help
};

/// Properties of an option that the parser does not store.
struct OptionFacts {
  ValueSpec values;
  std::string details;  ///< the long text
  bool common = false;  ///< declared for every verb
};
using OptionTable = std::map<const CLI::Option*, OptionFacts>;

struct OptionNode {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional "IN"
  std::string help;                ///< the short text
  std::string details;             ///< the long text, which follows the short one
  std::string type;                ///< "TEXT", "INT", "UINT", "FLOAT"; empty: a flag
  ValueSpec values;
  std::string standard;     ///< the default, without its unit; may be empty
  std::string environment;  ///< the variable that sets it
  bool positional = false, required = false, repeated = false, common = false;

  /// Returns whether it accepts a file name: any text, as far as is declared.
  [[nodiscard]] bool takes_file() const { return type == "TEXT" && values.names.empty(); }
  /// "METHOD", or the type of the value; empty for flags.
  [[nodiscard]] const std::string& placeholder() const {
    return values.placeholder.empty() ? type : values.placeholder;
  }
};

/// The command, a verb, or a kind of a verb. `details` and `footer` consist of paragraphs and indented
/// command lines.
struct CommandNode {
  std::string name, summary, details, footer;
  std::string json_keys;            ///< of a verb: the keys of its JSON object
  std::vector<OptionNode> options;  ///< its own; those of a verb also apply to its kinds
  std::vector<CommandNode> below;
};

CommandNode command_tree(const CLI::App& app, const OptionTable& facts);

}  // namespace sptile::tools
