#include "tools/help_format.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "tools/colour.hpp"
#include "tools/terminal.hpp"
#include "tools/text_layout.hpp"

namespace sptile::tools {
namespace {

constexpr int kTextColumn = 30;  // where texts start, beside names

std::string heading(const std::string& text) { return "\n" + paint(Style::heading, text + ":") + "\n"; }

// A line of an example is a command, and stays one for those who copy it.
std::string wrap_command(std::string_view line, int width) {
  std::string wrapped = wrap(line.substr(2), width - 4, 4);  // there is room for the marks of continuation
  for (std::size_t at = 0; (at = wrapped.find('\n', at)) != std::string::npos; at += 3)
    wrapped.insert(at, " \\");
  return "  " + wrapped;
}

}  // namespace

HelpFormat::HelpFormat(const std::string& subcommands)
    : width_(terminal_columns(stdout).value_or(kUsualColumns)) {
  label("SUBCOMMAND", subcommands);
}

std::string HelpFormat::make_description(const CLI::App* app) const {
  return wrap(app->get_description(), width_) + "\n";
}

std::string HelpFormat::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  usage.erase(usage.find_last_not_of('\n') + 1);
  const std::size_t colon = usage.find(':') + 1;
  return paint(Style::heading, usage.substr(0, colon)) + " " +
         wrap(std::string_view(usage).substr(colon + 1), width_, 4, static_cast<int>(colon) + 1) + "\n";
}

std::string HelpFormat::make_group(std::string group, bool is_positional,
                                   std::vector<const CLI::Option*> options) const {
  std::string text = heading(group);
  for (const CLI::Option* const option : options) text += make_option(option, is_positional);
  return text;
}

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option),
               kTextColumn, width_);
}

std::string HelpFormat::make_subcommands(const CLI::App* app, CLI::AppFormatMode) const {
  std::string text, group;
  for (const CLI::App* const sub : app->get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_group() != group) text += heading(group = sub->get_group());
    text += make_subcommand(sub);
  }
  return text;
}

std::string HelpFormat::make_subcommand(const CLI::App* sub) const {
  return entry(sub->get_name(), sub->get_description(), kTextColumn, width_);
}

std::string HelpFormat::make_footer(const CLI::App* app) const {
  std::istringstream lines(app->get_footer());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  "))
      text += wrap_command(line, width_) + "\n";
    else
      text += (line.ends_with(':') ? paint(Style::heading, line) : wrap(line, width_)) + "\n";
  }
  return text;
}

}  // namespace sptile::tools
