// The command as data: verbs, their kinds and options, as they were declared. Completions and manual pages
// are made from it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sptile::tools {

/// What is known of the values that an option takes.
struct ValueSpec {
  std::vector<std::string> names;
  bool closed = false;  ///< nothing but `names`
  std::string range;    ///< "1 to 1024"
};
using OptionValues = std::map<const CLI::Option*, ValueSpec>;

struct OptionNode {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional "IN"
  std::string help;
  std::string type;  ///< "TEXT", "INT", "UINT", "FLOAT"; empty: a flag
  ValueSpec values;
  std::string standard;     ///< what holds without it, as the help says it; may be empty
  std::string environment;  ///< the variable that it is taken from
  bool positional = false, required = false, repeated = false;

  /// Takes the name of a file: any text, as far as is known.
  [[nodiscard]] bool takes_file() const { return type == "TEXT" && values.names.empty(); }
};

/// The command, a verb, or a kind of a verb.
struct CommandNode {
  std::string name, summary, footer;
  std::vector<OptionNode> options;  ///< its own; those of a verb go with its kinds, too
  std::vector<CommandNode> below;
};

CommandNode command_tree(const CLI::App& app, const OptionValues& values);

}  // namespace sptile::tools
