#include <memory>

#include "tools/cli/completions/completions.hpp"
#include "tools/cli/json.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {

Json option_json(const OptionNode& option) {
  return {{"names", option.names},
          {"help", option.help},
          {"details", option.details},
          {"type", option.type},
          {"placeholder", option.placeholder()},
          {"unit", option.values.unit},
          {"common", option.common},
          {"values", option.values.names},
          {"closed", option.values.closed},
          {"range", option.values.range},
          {"default", option.standard},
          {"environment", option.environment},
          {"positional", option.positional},
          {"required", option.required},
          {"repeated", option.repeated}};
}

Json command_json(const CommandNode& node) {
  Json json = {{"name", node.name},
               {"summary", node.summary},
               {"details", node.details},
               {"json_keys", node.json_keys},
               {"footer", node.footer}};
  json["options"] = Json::array();
  for (const OptionNode& option : node.options) json["options"].push_back(option_json(option));
  json["below"] = Json::array();
  for (const CommandNode& below : node.below) json["below"].push_back(command_json(below));
  return json;
}

Status run_completions(Session& session, const CommandNode& command, const std::string& shell) {
  const auto at = find_name("shell", shell, names_of(completions::shells()));
  if (!at) return tl::unexpected(at.error());
  const std::string script = completions::shells()[*at].script(command);
  Json json = new_result(session);
  json.update({{"shell", shell}, {"script", script}, {"command", command_json(command)}});
  print_result(session, json, script);
  return {};
}

Action declare_completions(Options& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "Shell: bash, zsh or fish")
      .required()
      .offer(names_of(completions::shells()));
  return [app, shell](Session& session) { return run_completions(session, app.command(), *shell); };
}
}  // namespace

const Verb kCompletions = {.name = "completions",
                           .summary = "Print the completion script of a shell",
                           .details =
                               "The script completes verbs, options and the names of formats, orderings, "
                               "kernels and devices. Packages "
                               "install it. Elsewhere, source it from the start-up file of the shell.",
                           .json_keys =
                               "`shell`, `script`, `command` (the declaration of the entire command: verbs, "
                               "kinds, options and their "
                               "texts).",
                           .example =
                               "  source <(sptile completions bash)\n"
                               "  sptile completions fish > ~/.config/fish/completions/sptile.fish",
                           .declare = declare_completions};

}  // namespace sptile::tools
