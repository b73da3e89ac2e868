#include "tools/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "tools/advice.hpp"
#include "tools/colour.hpp"
#include "tools/complaint.hpp"
#include "tools/help_format.hpp"
#include "tools/names.hpp"
#include "tools/output.hpp"
#include "tools/output_name.hpp"
#include "tools/shell_words.hpp"
#include "tools/synonyms.hpp"
#include "tools/version.hpp"

namespace sptile::tools {
namespace {

using Words = std::vector<std::string>;

constexpr int kMaxThreads = 4096;
constexpr const char *kHelp = "-h,--help", *kVersion = "-V,--version";

void declare_common(Options& app, CommonOptions& common) {
  app.add_flag("--json", common.json, "print one JSON object instead of text");
  app.add_option("--threads", common.threads, "threads to use; 0: all")
      .environment("SPTILE_THREADS")
      .range(0, kMaxThreads);
  app.add_option("--seed", common.seed, "seed of every random choice");
  app.add_flag("-q,--quiet", common.quiet, "errors, warnings and results only");
  app.add_flag("-v,--verbose", common.verbose, "tell what is being done, on stderr");
  app.add_flag("--no-progress", common.no_progress, "no progress bar, not even on a terminal");
  app.add_flag("--copy", common.copy,
               "read bundles into memory instead of mapping them: for files that others may cut or rewrite");
  app.add_option("--color", common.color, "colours: auto (on terminals), always, never")
      .one_of(names_of(kColourModes));
}

struct CommandLine {
  CLI::App app{"Sparse matrices as tensor-core tiles: convert once, multiply many times.", "sptile"};
  CommonOptions common;
  OptionValues values;
  std::vector<std::pair<CLI::App*, Action>> actions;

  CommandLine() {
    app.option_defaults()->always_capture_default();
    app.formatter(std::make_shared<HelpFormat>("VERB"));
    app.set_help_flag(kHelp, "print this help");
    app.set_version_flag(kVersion, fmt::format("sptile {}", version()), "print the version");
    app.require_subcommand(1);
    app.footer(
        "'sptile help VERB' tells more about a verb, and so does 'sptile VERB --help'. What every verb takes "
        "(--json, --quiet ...) may stand before the verb, too.");
    for (const Verb& verb : verbs()) {
      CLI::App* const sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
      sub->group("Verbs");
      sub->set_help_flag(kHelp, "print this help");
      sub->footer("Example:\n" + std::string(verb.example));
      Options options(*sub, values);
      Action action = verb.declare(options);
      declare_common(options, common);
      sub->parse_complete_callback(
          [] {});  // so that the environment is read for the verb that is typed alone
      actions.emplace_back(sub, std::move(action));
    }
  }
};

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

bool holds(const Words& words, const char* a, const char* b) {
  return std::ranges::any_of(words, [=](const std::string& word) { return word == a || word == b; });
}

// The place of the first word that is neither an option of `app` nor the value of one.
std::size_t first_name(const Words& words, std::size_t at, const CLI::App& app) {
  for (; at < words.size() && is_option(words[at]); ++at) {
    const std::string& word = words[at];
    const bool is_long = word.starts_with("--");
    const CLI::Option* const option =
        app.get_option_no_throw(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2));
    const bool whole = is_long ? word.find('=') == std::string::npos : word.size() == 2;
    if (option != nullptr && whole && option->get_expected_min() > 0) ++at;
  }
  return std::min(at, words.size());
}

// "help convert" is "convert --help"; options that stand before the verb go behind it.
void put_verb_first(Words& words) {
  CLI::App common;
  CommonOptions unused;
  OptionValues values;
  Options options(common, values);
  declare_common(options, unused);
  common.set_help_flag(kHelp);
  common.set_version_flag(kVersion, "");
  const std::size_t verb = first_name(words, 0, common);
  const Words before(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(verb));
  if (holds(before, "--version", "-V"))
    words = {"--version"};
  else if (verb < words.size())
    std::rotate(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(verb),
                words.begin() + static_cast<std::ptrdiff_t>(verb) + 1);
  else if (holds(before, "--help", "-h"))
    words = {"--help"};
  if (words.front() != "help") return;
  words.erase(words.begin());
  words.emplace_back("--help");
  put_verb_first(words);
}

// A verb, or a kind below a verb, that is missing or unknown.
std::optional<Error> wrong_name(const CLI::App& app, const Words& words, std::size_t at = 0) {
  Words known;
  const CLI::App* chosen = nullptr;
  const std::size_t name = at == 0 ? 0 : first_name(words, at, app);
  const bool given = name < words.size() && !is_option(words[name]);
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(sub->get_name());
    if (given && sub->get_name() == words[name]) chosen = sub;
  }
  if (known.empty() || (!given && holds(words, "--help", "-h")) || holds(words, "--version", "-V"))
    return std::nullopt;
  if (chosen != nullptr) return wrong_name(*chosen, words, name + 1);
  const std::string_view what = at == 0 ? "verb" : "kind";
  if (given) {
    Error error = unknown_name(what, words[name], known);
    const auto later = std::ranges::find_first_of(words.begin() + 1, words.end(), known.begin(), known.end());
    if (at == 0 && later != words.end())
      error.message += fmt::format("\n{} may be the verb: what only one verb takes stands behind it", *later);
    return error;
  }
  return Error{Errc::usage, fmt::format("a {} is wanted: {}", what, fmt::join(known, ", ")), {}};
}

// What a verb, its kind and their options are called.
std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return {};
  const std::string above = path_of(*app.get_parent());
  return above.empty() ? app.get_name() : above + " " + app.get_name();
}

const CLI::App* innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? &app : innermost(*parsed.front());
}

// With those of the verb, for a kind.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent())
    for (const CLI::Option* const option : level->get_options()) options.push_back(option);
  return options;
}

std::string about_unknown(const CLI::App& app, const std::string& word) {
  Words known;
  for (const CLI::Option* const option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
    if (option->get_positional()) known.push_back(option->get_name(true));
  }
  const std::string typed = word.substr(0, word.find('='));
  // Of options of one letter all are near.
  const std::string nearest = typed.size() > 2 ? nearest_name(typed, known) : same_meaning(typed, known);
  std::string text = fmt::format("there is no option {}", typed);
  if (nearest.empty()) return text;
  if (!nearest.starts_with('-')) return fmt::format("{}; {} stands alone, without it", text, nearest);
  return fmt::format("{}; did you mean {}?", text, nearest);
}

// The word that names a variable of the environment, where that is what was wrong.
std::string with_variable(const CLI::App& app, const Words& words, std::string text) {
  for (const CLI::Option* const option : options_of(app)) {
    const std::string name = option->get_name() + ":";
    const std::string& variable = option->get_envname();
    if (variable.empty() || !text.starts_with(name) || std::getenv(variable.c_str()) == nullptr) continue;
    const bool typed = std::ranges::any_of(
        words, [&](const std::string& word) { return word.substr(0, word.find('=')) == option->get_name(); });
    if (!typed) return fmt::format("the environment variable {}{}", variable, text.substr(name.size() - 1));
  }
  return text;
}

// The whole command, where only the name of its output is missing.
std::string proposal(const CLI::App& verb, Words words) {
  const CLI::Option* const in = verb.get_options().empty() ? nullptr : verb.get_option_no_throw("IN");
  const CLI::Option* const bundle = verb.get_option_no_throw("BUNDLE");
  const CLI::Option* const out = verb.get_option_no_throw("OUT");
  const CLI::Option* const input = in != nullptr ? in : bundle;
  const Verb* const row = find_verb(verb.get_name());
  if (out == nullptr || out->count() > 0 || input == nullptr || input->count() != 1 || row == nullptr ||
      row->writes.empty())
    return {};
  const std::string& path = input->results().front();
  const std::string output = proposed_output(path, row->writes);
  words.insert(std::find(words.begin() + 1, words.end(), path) + 1, output);
  words.insert(words.begin(), "sptile");
  return fmt::format("; for example:\n  {}", shell_line(words));
}

// Typing errors come first, whatever else is wrong.
int report_usage(const CommandLine& line, const Words& words, const CLI::ParseError& error) {
  const CLI::App& app = *innermost(line.app);
  const Words left = line.app.remaining(true);
  const auto unknown = std::ranges::find_if(left, is_option);
  std::string text;
  if (unknown != left.end())
    text = about_unknown(app, *unknown);
  else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
    text = error.what() + proposal(app, words);
  else if (!left.empty())
    text = fmt::format("{} is one argument too many", left.front());
  else
    text = with_variable(app, words, error.what());
  const std::string path = path_of(app);
  text += fmt::format("\n'sptile {}--help' tells what it takes", path.empty() ? path : path + " ");
  return complain(path, {Errc::usage, text, {}});
}

// What --help and --version ask for.
int print_help(const CommandLine& line, const CLI::ParseError& error) {
  std::ostringstream text;
  const int code = line.app.exit(error, text, text);
  write_text(stdout, text.str());
  return code;
}

// Before anything is parsed: what is wrong is coloured, too.
ColourMode colour_mode(const Words& words) {
  ColourMode mode = ColourMode::automatic;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const ColourModeRow& row : kColourModes)
      if (words[i] == "--color=" + std::string(row.name) ||
          (words[i] == "--color" && i + 1 < words.size() && words[i + 1] == row.name))
        mode = row.mode;
  return mode;
}

}  // namespace

tl::expected<ParsedCommand, int> parse_command_line(Words words) {
  choose_colours(colour_mode(words));
  if (words.empty()) {
    write_text(stderr, tour());
    return tl::unexpected(static_cast<int>(Errc::usage));
  }
  put_verb_first(words);
  const auto line = std::make_shared<CommandLine>();
  if (const auto error = wrong_name(line->app, words)) {
    const auto advice = advice_on_file(words.front());
    return tl::unexpected(complain(
        "", find_verb(words.front()) == nullptr && advice ? Error{Errc::usage, *advice, {}} : *error));
  }
  try {
    line->app.parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(error.get_exit_code() == 0 ? print_help(*line, error)
                                                     : report_usage(*line, words, error));
  }
  for (const auto& [sub, action] : line->actions)
    if (sub->parsed()) return ParsedCommand{sub->get_name(), line->common, action, line};
  return tl::unexpected(static_cast<int>(Errc::internal));
}

}  // namespace sptile::tools
