// Completions of zsh: a function for each place, which calls those below it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/completions/completions.hpp"

namespace sptile::tools::completions {
namespace {

// What completes the values of an option: `:message:action` of _arguments.
std::string action(const OptionNode& option, const std::string& message) {
  if (!option.values.names.empty()) {
    const std::string names = fmt::format("{}", fmt::join(option.values.names, " "));
    if (option.values.closed || option.positional) return fmt::format(":{}:({})", message, names);
    // Several with commas. A name that a value follows (alpha=) gets no blank behind it.
    const bool assigned = option.values.names.front().ends_with('=');
    return fmt::format(":{}:_sequence compadd {}- {}", message, assigned ? "-S '' " : "", names);
  }
  return fmt::format(":{}:{}", message, option.takes_file() ? "_files" : " ");
}

// (-o --output){-o+,--output=}[help]:TEXT:_files
std::string option_spec(const OptionNode& option) {
  std::vector<std::string> spellings;
  for (const std::string& name : option.names)
    spellings.push_back(name + (option.type.empty() ? "" : name.starts_with("--") ? "=" : "+"));
  std::string spec = quote(option.repeated ? "*" : fmt::format("({})", fmt::join(option.names, " ")));
  spec += spellings.size() == 1 ? spellings.front() : fmt::format("{{{}}}", fmt::join(spellings, ","));
  spec += quote("[" + escape(option.help, "[]\\") + "]" +
                (option.type.empty() ? "" : action(option, option.type)));
  return spec;
}

std::string positional_spec(const OptionNode& option, std::size_t number) {
  return quote((option.repeated ? "*" : fmt::format("{}", number)) + action(option, option.names.front()));
}

std::string function_name(const std::vector<std::string>& path) {
  return "_" + fmt::format("{}", fmt::join(path, "_"));
}

// Verbs or kinds to choose from, then the function of the one that was chosen.
std::string choice(const Place& place) {
  std::string described, calls;
  for (const CommandNode& node : place.node->below) {
    described += "      " + quote(escape(node.name, ":\\") + ":" + escape(node.summary, "\\")) + "\n";
    std::vector<std::string> path = place.path;
    path.push_back(node.name);
    calls += fmt::format("      {}) {} ;;\n", node.name, function_name(path));
  }
  const std::string_view what = place.path.size() == 1 ? "verb" : "kind";
  return fmt::format(
      "  case $state in\n"
      "  choice)\n    local -a known=(\n{}    )\n    _describe {} known ;;\n"
      "  rest)\n    case $words[1] in\n{}    esac ;;\n  esac\n",
      described, what, calls);
}

std::string function(const Place& place) {
  const bool chooses = !place.node->below.empty();
  std::string text = fmt::format("\n{}() {{\n", function_name(place.path));
  if (chooses)
    text += "  local curcontext=\"$curcontext\" context state state_descr line\n  typeset -A opt_args\n";
  text += chooses ? "  _arguments -C" : "  _arguments -S";
  for (const OptionNode* option : place.flags()) text += " \\\n    " + option_spec(*option);
  const auto positionals = place.positionals();
  for (std::size_t i = 0; i < positionals.size(); ++i)
    text += " \\\n    " + positional_spec(*positionals[i], i + 1);
  if (chooses) text += " \\\n    '1: :->choice' '*:: :->rest'";
  return text + "\n" + (chooses ? choice(place) : "") + "}\n";
}

}  // namespace

std::string zsh_script(const CommandNode& command) {
  std::string text = "#compdef sptile\n# Completions of zsh for sptile, made by 'sptile completions zsh'.\n";
  for_each_place(command, [&text](const Place& place) { text += function(place); });
  // Found by compinit, the file is the function; sourced, it says what it completes.
  return text +
         "\nif [[ $funcstack[1] == _sptile ]]; then\n  _sptile \"$@\"\nelse\n  compdef _sptile sptile\nfi\n";
}

}  // namespace sptile::tools::completions
