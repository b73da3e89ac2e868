#include "tools/cli/help_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/cli/colour.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/cli/text_layout.hpp"

namespace sptile::tools {
namespace {

constexpr int kTextColumn = 28;  // column of the texts after the names

std::string heading(const std::string& text) { return "\n" + styled(Style::heading, text + ":") + "\n"; }

// Indented lines are commands, which must stay valid when they are copied.
std::string wrap_command(std::string_view line, int width) {
  std::string wrapped = wrap(line.substr(2), width - 4, 4);  // leaves columns for the continuation marks
  for (std::size_t at = 0; (at = wrapped.find('\n', at)) != std::string::npos; at += 3)
    wrapped.insert(at, " \\");
  return "  " + wrapped;
}

// Long texts mark code with backquotes.
std::string without_markup(std::string text) {
  std::replace(text.begin(), text.end(), '`', '\'');
  return text;
}

std::string paragraphs(const std::string& text, int width, int indent = 0) {
  std::istringstream lines(without_markup(text));
  std::string result;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  "))
      result += margin + wrap_command(line, width - indent) + "\n";
    else if (line.empty())
      result += "\n";
    else
      result += margin + wrap(line, width, indent, indent) + "\n";
  }
  return result;
}

// Returns facts such as "[default: 8 rows; range: 1 to 1024]".
std::string bracketed_facts(const OptionNode& option) {
  std::vector<std::string> facts;
  const std::string unit = option.values.unit.empty() ? "" : " " + option.values.unit;
  if (option.required && !option.positional) facts.emplace_back("required");
  if (!option.standard.empty()) facts.push_back("default: " + option.standard + unit);
  if (option.values.closed) facts.push_back(fmt::format("choices: {}", fmt::join(option.values.names, ", ")));
  if (!option.values.range.empty())
    facts.push_back("range: " + option.values.range + (option.standard.empty() ? unit : ""));
  if (!option.environment.empty()) facts.push_back("env: " + option.environment);
  return facts.empty() ? "" : fmt::format(" [{}]", fmt::join(facts, "; "));
}

// Returns the names and placeholder, for example "-o, --output FILE".
std::string spelled(const OptionNode& option) {
  if (option.positional) return option.names.front() + (option.repeated ? "..." : "");
  const std::string text = fmt::format("{}", fmt::join(option.names, ", "));
  return option.type.empty() ? text : text + " " + option.placeholder();
}

class HelpText {
 public:
  HelpText(int width, bool detailed) : width_(width), detailed_(detailed) {}

  void usage(const std::string& name, const CommandNode& node, bool chooses_verb) {
    std::string line = name + " [OPTIONS]";
    for (const OptionNode& option : node.options)
      if (option.positional) line += option.required ? " " + spelled(option) : " [" + spelled(option) + "]";
    if (!node.below.empty()) line += chooses_verb ? " VERB" : " KIND";
    text += "\n" + styled(Style::heading, "Usage:") + " " + wrap(line, width_, 4, 7) + "\n";
  }

  template <class Predicate>
  void options(const std::string& title, const CommandNode& node, Predicate requested) {
    bool first = true;
    for (const OptionNode& option : node.options) {
      if (!requested(option)) continue;
      if (std::exchange(first, false)) text += heading(title);
      text += entry(spelled(option), option.help + bracketed_facts(option), kTextColumn, width_);
      if (detailed_ && !option.details.empty()) text += paragraphs(option.details, width_, 6) + "\n";
    }
  }

  void below(const CommandNode& node, bool chooses_verb) {
    if (node.below.empty()) return;
    text += heading(chooses_verb ? "Verbs" : "Kinds");
    for (const CommandNode& sub : node.below)
      text += entry(sub.name, without_markup(sub.summary), kTextColumn, width_);
  }

  void footer(const CommandNode& node) {
    if (node.footer.empty()) return;
    std::istringstream lines(node.footer);
    for (std::string line; std::getline(lines, line);)
      text += line.starts_with("  ") ? wrap_command(line, width_) + "\n"
              : line.ends_with(':')  ? heading(line.substr(0, line.size() - 1))
                                     : "\n" + wrap(line, width_) + "\n";
  }

  std::string text;

 private:
  int width_;
  bool detailed_;
};

}  // namespace

HelpFormat::HelpFormat(const OptionTable& facts, const bool& detailed)
    : facts_(&facts), detailed_(&detailed), width_(terminal_columns(stdout).value_or(kUsualColumns)) {}

std::string HelpFormat::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const CommandNode node = command_tree(*app, *facts_);
  const bool root = app->get_parent() == nullptr;
  HelpText help(width_, *detailed_);
  help.text = wrap(without_markup(node.summary), width_) + "\n";
  if (*detailed_ && !node.details.empty()) help.text += "\n" + paragraphs(node.details, width_);
  help.usage(name.empty() ? node.name : name, node, root);
  help.options("Arguments", node, [](const OptionNode& option) { return option.positional; });
  help.options("Options", node,
               [](const OptionNode& option) { return !option.positional && !option.common; });
  help.options("Common options", node, [](const OptionNode& option) { return option.common; });
  help.below(node, root);
  if (*detailed_ && !node.json_keys.empty())
    help.text += heading("JSON keys") + paragraphs(node.json_keys, width_);
  help.footer(node);
  return help.text;
}

}  // namespace sptile::tools
