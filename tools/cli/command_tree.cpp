#include "tools/cli/command_tree.hpp"

#include <CLI/CLI.hpp>

#include "tools/cli/verb.hpp"

namespace sptile::tools {
namespace {

// Returns the default as users would type it: lists without brackets.
std::string plain_default(std::string text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return text;
}

OptionNode option_node(const CLI::Option& option, const OptionTable& facts) {
  OptionNode node;
  for (const std::string& name : option.get_snames()) node.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) node.names.push_back("--" + name);
  node.help = option.get_description();
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    node.type = type.substr(0, type.find(':'));
    node.standard = plain_default(option.get_default_str());
  }
  if (const auto known = facts.find(&option); known != facts.end()) {
    node.values = known->second.values;
    node.details = known->second.details;
    node.common = known->second.common;
  }
  node.environment = option.get_envname();
  node.required = option.get_required();
  node.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return node;
}

// Adds an argument. One that also has a name ("OUT,-o,--output") becomes two nodes.
void add_nodes(std::vector<OptionNode>& nodes, const CLI::Option& option, const OptionTable& facts) {
  OptionNode named = option_node(option, facts);
  if (option.get_positional()) {
    OptionNode positional = named;
    positional.names = {option.get_name(true)};
    positional.positional = true;
    named.help = "Same as " + positional.names.front();
    named.values.placeholder = positional.names.front();
    named.details.clear();
    named.required = false;
    nodes.push_back(std::move(positional));
  }
  if (!named.names.empty()) nodes.push_back(std::move(named));
}

}  // namespace

CommandNode command_tree(const CLI::App& app, const OptionTable& facts) {
  CommandNode node{app.get_name(), app.get_description(), {}, app.get_footer(), {}, {}, {}};
  const bool is_verb = app.get_parent() != nullptr && app.get_parent()->get_parent() == nullptr;
  if (const Verb* const verb = is_verb ? find_verb(node.name) : nullptr; verb != nullptr) {
    node.details = verb->details;
    node.json_keys = verb->json_keys;
  }
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); }))
    add_nodes(node.options, *option, facts);
  for (const CLI::App* below : app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    node.below.push_back(command_tree(*below, facts));
  return node;
}

}  // namespace sptile::tools
