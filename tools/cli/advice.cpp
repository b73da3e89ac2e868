#include "tools/cli/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/terminal.hpp"
#include "tools/cli/text_layout.hpp"
#include "tools/cli/verb.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/pipeline/shell_words.hpp"

namespace sptile::tools {
namespace {

// A command and its description.
struct Command {
  std::string line;
  std::string_view what;
};

// Returns the commands as text without the final newline.
std::string commands_text(const std::vector<Command>& commands) {
  int column = 0;
  for (const Command& command : commands) column = std::max(column, display_width(command.line) + 4);
  std::string text;
  for (const Command& command : commands)
    text += entry(command.line, command.what, column, terminal_columns(stderr).value_or(kUsualColumns));
  text.pop_back();
  return text;
}

std::string_view summary_of(std::string_view verb) {
  const Verb* const row = find_verb(verb);
  return row == nullptr ? std::string_view{} : row->summary;
}

std::vector<Command> commands_for(const std::string& path, bool is_bundle) {
  std::vector<Command> commands;
  const auto add = [&](std::string_view verb, std::vector<std::string> words) {
    words.insert(words.begin(), {"sptile", std::string(verb), path});
    commands.push_back({shell_line(words), summary_of(verb)});
  };
  if (is_bundle) {
    add("info", {});
    add("bench", {});
    add("run", {"--check"});
  } else {
    add("stats", {});
    add("convert", {proposed_output(path, ".h5")});
  }
  return commands;
}

}  // namespace

std::string tour() {
  const int columns = terminal_columns(stderr).value_or(kUsualColumns);
  return wrap("sptile converts sparse matrices to tensor-core tile formats and multiplies with them. Try:",
              columns) +
         "\n\n" +
         commands_text({{"sptile gen rmat --scale 12 --edges 60000 -o graph.mtx", "make a matrix"},
                        {"sptile convert graph.mtx graph.h5", "convert it"},
                        {"sptile run graph.h5 --check", "multiply with it"}}) +
         "\n\n" + wrap("'sptile help' lists the verbs and 'sptile help VERB' explains one.", columns) + "\n";
}

std::optional<std::string> advice_on_file(const std::string& path) {
  const MatrixKind* const named = kind_by_suffix(path);
  const auto found = find_kind(path);
  const MatrixKind* const kind = found ? *found : named;
  if (path == "-" || kind == nullptr) return std::nullopt;
  // find_kind returns Matrix Market for all unknown files.
  if (named == nullptr && kind->name == "matrix-market" && !probe_matrix(path, {.real_part = true}))
    return std::nullopt;
  if (!found)
    return fmt::format("{}: {}; the verb precedes the file:\n{}", path, found.error().message,
                       commands_text(commands_for(path, kind->name == "bundle")));
  return fmt::format("{} is {}; a verb is required:\n{}", path, kind->what,
                     commands_text(commands_for(path, kind->name == "bundle")));
}

}  // namespace sptile::tools
