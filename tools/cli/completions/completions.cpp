#include "tools/cli/completions/completions.hpp"

#include <utility>

namespace sptile::tools::completions {
namespace {

std::vector<const OptionNode*> those(const std::vector<const OptionNode*>& options, bool positional) {
  std::vector<const OptionNode*> chosen;
  for (const OptionNode* option : options)
    if (option->positional == positional) chosen.push_back(option);
  return chosen;
}

bool is_named(const std::vector<const OptionNode*>& options, const std::string& name) {
  for (const OptionNode* option : options)
    for (const std::string& other : option->names)
      if (name == other) return true;
  return false;
}

void visit_below(const Place& place, const std::function<void(const Place&)>& visit) {
  visit(place);
  for (const CommandNode& node : place.node->below) {
    Place next{place.path, &node, {}};
    next.path.push_back(node.name);
    for (const OptionNode& option : node.options) next.options.push_back(&option);
    if (place.path.size() > 1)  // a kind
      for (const OptionNode* option : place.options)
        if (!is_named(next.options, option->names.front())) next.options.push_back(option);
    visit_below(next, visit);
  }
}

/// Returns a verb or kind as an argument of `help`.
CommandNode topic(const CommandNode& node) {
  CommandNode named;
  named.name = node.name;
  named.summary = node.summary;
  for (const CommandNode& below : node.below) named.below.push_back(topic(below));
  return named;
}

/// Returns the command with `help`, which is not a verb of the parser.
CommandNode with_help(CommandNode command) {
  CommandNode help = topic(command);
  help.name = "help";
  help.summary = "Explain a verb and its options";
  command.below.push_back(std::move(help));
  return command;
}

}  // namespace

std::span<const Shell> shells() {
  static constexpr Shell kTable[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
  return kTable;
}

std::vector<const OptionNode*> Place::positionals() const { return those(options, true); }
std::vector<const OptionNode*> Place::flags() const { return those(options, false); }

void for_each_place(const CommandNode& command, const std::function<void(const Place&)>& visit) {
  const CommandNode complete = with_help(command);
  Place root{{complete.name}, &complete, {}};
  for (const OptionNode& option : complete.options) root.options.push_back(&option);
  for (const OptionNode& option : complete.below.front().options)  // options of every verb may precede it
    if (option.common && !is_named(root.options, option.names.front())) root.options.push_back(&option);
  visit_below(root, visit);
}

std::string escape(std::string_view text, std::string_view characters) {
  std::string escaped;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

}  // namespace sptile::tools::completions
