// Completions of bash: four tables by place ("sptile gen rmat"), and one function that looks into them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/completions/completions.hpp"

namespace sptile::tools::completions {
namespace {

constexpr std::string_view kBashHead = R"(# Completions of bash for sptile, made by 'sptile completions bash'.
)";

// Words that stand for what no table lists.
constexpr std::string_view kFiles = "<file>", kNothing = "";

constexpr std::string_view kFunction = R"(
_sptile() {
  local current=${COMP_WORDS[COMP_CWORD]} place=sptile option= position=0 i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == = ]]; then
      continue # --option=value comes in three words
    elif [[ -n $option ]]; then
      option=
    elif [[ $word == -?* ]]; then
      [[ -z ${_sptile_values["$place $word"]+set} ]] || option=$word
    elif [[ $position -eq 0 && -n ${_sptile_options["$place $word"]+set} ]]; then
      place+=" $word"
    else
      ((++position))
    fi
  done
  [[ $current != = ]] || current=

  local offers
  if [[ -n $option ]]; then
    offers=${_sptile_values["$place $option"]}
  elif [[ $current == -* ]]; then
    offers=${_sptile_options[$place]}
  elif [[ -n ${_sptile_below[$place]} ]]; then
    offers=${_sptile_below[$place]}
  else
    [[ $position -lt ${_sptile_last[$place]} ]] || position=${_sptile_last[$place]}
    offers=${_sptile_values["$place $position"]-}
  fi
  if [[ $offers == '<file>' ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  local before=
  if [[ $current == *,* ]]; then before=${current%,*},; fi # several values with commas: the last one
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$offers" -- "${current#"$before"}")
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _sptile sptile
)";

std::string offers_of(const OptionNode& option) {
  if (!option.values.names.empty()) return fmt::format("{}", fmt::join(option.values.names, " "));
  return std::string(option.takes_file() ? kFiles : kNothing);
}

struct Tables {
  std::string options, below, values, last;

  void add(const Place& place) {
    const std::string path = fmt::format("{}", fmt::join(place.path, " "));
    std::vector<std::string> names;
    for (const OptionNode* option : place.flags()) {
      names.insert(names.end(), option->names.begin(), option->names.end());
      if (option->type.empty()) continue;
      for (const std::string& name : option->names) add_row(values, path + " " + name, offers_of(*option));
    }
    add_row(options, path, fmt::format("{}", fmt::join(names, " ")));
    names.clear();
    for (const CommandNode& node : place.node->below) names.push_back(node.name);
    add_row(below, path, fmt::format("{}", fmt::join(names, " ")));
    const auto positionals = place.positionals();
    for (std::size_t i = 0; i < positionals.size(); ++i)
      add_row(values, fmt::format("{} {}", path, i), offers_of(*positionals[i]));
    // What stands behind the last one is that again, or nothing.
    const bool repeated = !positionals.empty() && positionals.back()->repeated;
    add_row(last, path, fmt::format("{}", positionals.size() - (repeated ? 1 : 0)));
  }

  static void add_row(std::string& table, const std::string& key, const std::string& words) {
    table += fmt::format("  [{}]={}\n", quote(key), quote(words));
  }
};

std::string declaration(std::string_view name, const std::string& rows, std::string_view comment) {
  return fmt::format("\n# {}\ndeclare -gA {}=(\n{})\n", comment, name, rows);
}

}  // namespace

std::string bash_script(const CommandNode& command) {
  Tables tables;
  for_each_place(command, [&tables](const Place& place) { tables.add(place); });
  return std::string(kBashHead) + declaration("_sptile_below", tables.below, "Verbs and kinds.") +
         declaration("_sptile_options", tables.options, "Options.") +
         declaration("_sptile_values", tables.values,
                     "Values of options, and of what has no name, by its position.") +
         declaration("_sptile_last", tables.last, "The last position that counts.") + std::string(kFunction);
}

}  // namespace sptile::tools::completions
