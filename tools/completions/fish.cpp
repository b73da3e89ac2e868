// Completions of fish: a line for each option at each place.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/completions/completions.hpp"

namespace sptile::tools::completions {
namespace {

constexpr std::string_view kFishHead = R"(# Completions of fish for sptile, made by 'sptile completions fish'.

# __sptile_at WORD...: is what was typed behind sptile these words? A verb or kind comes before all else.
function __sptile_at
    set -l words (commandline -opc)[2..-1]
    test "$words[1..$(count $argv)]" = "$argv"
end

# __sptile_wants: does a verb or kind come next?
function __sptile_wants
    set -l words (commandline -opc)[2..-1]
    test "$words" = "$argv"
end

complete -c sptile -f
)";

// Inside '' fish knows \' and \\ alone.
std::string fish_quote(std::string_view text) { return "'" + escape(text, "'\\") + "'"; }

// The values of an option, and whether names of files go with them.
std::string arguments(const OptionNode& option) {
  if (!option.values.names.empty()) {
    const std::string names = fmt::format("{}", fmt::join(option.values.names, " "));
    const std::string one = option.values.closed ? names : fmt::format("(__fish_append , {})", names);
    return " -a " + fish_quote(one);
  }
  return option.takes_file() ? " -F" : "";
}

std::string option_line(const std::string& condition, const OptionNode& option) {
  std::string line = "complete -c sptile" + condition;
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.type.empty()) line += " -r" + std::string(option.takes_file() ? "" : " -f") + arguments(option);
  return line + " -d " + fish_quote(option.help) + "\n";
}

std::string lines(const Place& place) {
  const std::vector<std::string> words(place.path.begin() + 1, place.path.end());
  const std::string at = fmt::format("{}", fmt::join(words, " "));
  std::string text = "\n# " + fmt::format("{}", fmt::join(place.path, " ")) + "\n";
  const std::string here = " -n " + fish_quote(words.empty() ? "__sptile_wants" : "__sptile_at " + at);
  for (const OptionNode* option : place.flags()) text += option_line(here, *option);
  for (const OptionNode* option : place.positionals())
    if (const std::string offers = arguments(*option); !offers.empty())
      text += "complete -c sptile" + here + offers + "\n";
  for (const CommandNode& node : place.node->below)
    text += "complete -c sptile -n " + fish_quote(words.empty() ? "__sptile_wants" : "__sptile_wants " + at) +
            " -a " + node.name + " -d " + fish_quote(node.summary) + "\n";
  return text;
}

}  // namespace

std::string fish_script(const CommandNode& command) {
  std::string text(kFishHead);
  for_each_place(command, [&text](const Place& place) { text += lines(place); });
  return text;
}

}  // namespace sptile::tools::completions
