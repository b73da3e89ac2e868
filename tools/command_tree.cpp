#include "tools/command_tree.hpp"

#include <CLI/CLI.hpp>

namespace sptile::tools {
namespace {

OptionNode option_node(const CLI::Option& option, const OptionValues& values) {
  OptionNode node;
  node.positional = option.get_positional();
  if (node.positional) node.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) node.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) node.names.push_back("--" + name);
  node.help = option.get_description();
  if (option.get_items_expected_max() > 0) {
    // What follows the colon are the checks.
    const std::string type = option.get_type_name();
    node.type = type.substr(0, type.find(':'));
    node.standard = option.get_default_str();
  }
  if (const auto known = values.find(&option); known != values.end()) node.values = known->second;
  node.environment = option.get_envname();
  node.required = option.get_required();
  node.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return node;
}

}  // namespace

CommandNode command_tree(const CLI::App& app, const OptionValues& values) {
  CommandNode node{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); }))
    node.options.push_back(option_node(*option, values));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    node.below.push_back(command_tree(*below, values));
  return node;
}

}  // namespace sptile::tools
