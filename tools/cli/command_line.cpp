#include "tools/cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "tools/cli/advice.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/complaint.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/version.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/pipeline/shell_words.hpp"
#include "tools/pipeline/synonyms.hpp"

namespace sptile::tools {
namespace {

using Words = std::vector<std::string>;

constexpr int kMaxThreads = 4096;
constexpr const char *kHelp = "-h,--help", *kVersion = "-V,--version";

void declare_common(Options& app, CommonOptions& common) {
  const std::size_t first = app.count();
  app.add_flag("--json", common.json, "Print the result as one JSON object")
      .details(
          "The object has `schema_version` (1), `verb` and the keys listed for the verb. Errors remain text "
          "on standard error, with nothing on standard output. Exceptions: `verify` and `run` print their "
          "results before they report a failed check, and `bench` prints the rows measured before an error.");
  app.add_option("--threads N", common.threads, "Number of threads; 0 uses all")
      .environment("SPTILE_THREADS")
      .range(0, kMaxThreads)
      .details("Results do not depend on the number of threads.");
  app.add_option("--seed N", common.seed, "Seed of all random choices").details("Bundles record it.");
  app.add_flag("-q,--quiet", common.quiet, "Print only results, warnings and errors");
  app.add_flag("-v,--verbose", common.verbose, "Report each step on standard error");
  app.add_flag("--no-progress", common.no_progress, "Do not show a progress bar")
      .details("By default a progress bar with the remaining time appears if standard error is a terminal.");
  app.add_flag("--copy", common.copy, "Read bundles into memory instead of mapping them")
      .details(
          "Use it for files that other programs may truncate or rewrite. If a mapped bundle is truncated, "
          "the "
          "command stops with exit code 5. The copy needs as much memory as the bundle.");
  app.add_option("--color WHEN", common.color, "When to use colors")
      .one_of(names_of(kColourModes))
      .details("`auto` uses colors on terminals. JSON and files never contain any.");
  app.mark_common(first);
}

struct CommandLine {
  CLI::App app{"Convert sparse matrices to tensor-core tile formats and multiply with them", "sptile"};
  CommonOptions common;
  OptionTable facts;
  bool detailed;  // help prints the long texts
  std::vector<std::pair<CLI::App*, Action>> actions;

  explicit CommandLine(bool detailed_help) : detailed(detailed_help) {
    app.option_defaults()->always_capture_default();
    app.formatter(std::make_shared<HelpFormat>(facts, detailed));
    app.set_help_flag(kHelp, "Print help");
    app.set_version_flag(kVersion, fmt::format("sptile {}", version()), "Print the version");
    app.require_subcommand(1);
    app.footer(
        "'sptile VERB --help' lists the options of a verb; 'sptile help VERB' explains them in detail. "
        "Options "
        "of every verb (--json, --quiet, ...) may also precede the verb.");
    for (const Verb& verb : verbs()) {
      CLI::App* const sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
      sub->group("Verbs");
      sub->set_help_flag(kHelp, "Print help; 'sptile help " + std::string(verb.name) + "' prints more");
      sub->footer("Example:\n" + std::string(verb.example));
      Options options(*sub, facts);
      Action action = verb.declare(options);
      declare_common(options, common);
      // Without this callback the environment would be read for all verbs, not only the given one.
      sub->parse_complete_callback([] {});
      actions.emplace_back(sub, std::move(action));
    }
  }
};

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

bool holds(const Words& words, const char* a, const char* b) {
  return std::ranges::any_of(words, [=](const std::string& word) { return word == a || word == b; });
}

// Returns the position of the first word that is neither an option of `app` nor the value of one.
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

// Moves options that precede the verb after it and replaces "help convert" by "convert --help". Returns
// whether it was `help`, which prints the long texts.
bool move_verb_first(Words& words) {
  CLI::App common;
  CommonOptions unused;
  OptionTable facts;
  Options options(common, facts);
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
  if (words.front() != "help") return false;
  words.erase(words.begin());
  words.emplace_back("--help");
  move_verb_first(words);
  return true;
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// Returns the name in "--name=value" or "-nvalue".
std::string typed_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

// Returns the error for an option without a verb, which belongs to some verbs or to none.
Error option_without_verb(const CLI::App& app, const std::string& word) {
  const std::string name = typed_name(word);
  Words owners, known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_option_no_throw(name) != nullptr) owners.push_back(sub->get_name());
    for (const CLI::Option* const option : sub->get_options())
      for (const std::string& spelling : spellings(*option)) known.push_back(spelling);
  }
  if (!owners.empty())
    return {Errc::usage,
            fmt::format("missing verb; {} is an option of {} and follows the verb", name,
                        fmt::join(owners, ", ")),
            {}};
  const std::string nearest = name.size() > 2 ? nearest_name(name, known) : same_meaning(name, known);
  return {Errc::usage,
          fmt::format("unknown option {}{}; a verb is required: see 'sptile --help'", name,
                      nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)),
          {}};
}

// Returns whether every verb has the option; other options are errors without a verb.
bool is_common(const CLI::App& app, const std::string& word) {
  return std::ranges::all_of(
      app.get_subcommands([](const CLI::App*) { return true; }),
      [&](const CLI::App* sub) { return sub->get_option_no_throw(typed_name(word)) != nullptr; });
}

// Returns the error for a missing or unknown verb or kind of a verb.
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
  const auto foreign =
      std::ranges::find_if(words, [&](const std::string& w) { return is_option(w) && !is_common(app, w); });
  const auto verb = std::ranges::find_first_of(words, known);
  if (at == 0 && foreign != words.end() && foreign < verb && (!given || verb != words.end()))
    return option_without_verb(app, *foreign);
  const std::string_view what = at == 0 ? "verb" : "kind";
  if (given) return unknown_name(what, words[name], known);
  return Error{Errc::usage, fmt::format("missing {}; expected one of {}", what, fmt::join(known, ", ")), {}};
}

// Returns the path of a verb or kind, for example "gen rmat".
std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return {};
  const std::string above = path_of(*app.get_parent());
  return above.empty() ? app.get_name() : above + " " + app.get_name();
}

const CLI::App* innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? &app : innermost(*parsed.front());
}

// Returns the options; those of a kind include those of its verb.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent())
    for (const CLI::Option* const option : level->get_options()) options.push_back(option);
  return options;
}

std::string about_unknown(const CLI::App& app, const std::string& word) {
  Words known;
  for (const CLI::Option* const option : options_of(app)) {
    for (const std::string& name : spellings(*option)) known.push_back(name);
    if (option->get_positional()) known.push_back(option->get_name(true));
  }
  const std::string typed = word.substr(0, word.find('='));
  // Single-letter options are too similar for edit distance.
  const std::string nearest = typed.size() > 2 ? nearest_name(typed, known) : same_meaning(typed, known);
  const std::string text = fmt::format("unknown option {}", typed);
  if (nearest.empty()) return text;
  if (!nearest.starts_with('-'))
    return fmt::format("{}; {} is an argument without an option name", text, nearest);
  return fmt::format("{}; did you mean {}?", text, nearest);
}

// Returns parser errors in the terms of this command. Errors of own checks have the form "NAME: message".
std::string parse_message(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what();
  std::string name = text.substr(0, text.find_first_of(": "));
  if (const std::size_t flag = text.find("--"); name == "Could" && flag != std::string::npos)
    name = text.substr(flag, text.find(' ', flag) - flag);  // for example "Could not convert: --json = x"
  const CLI::Option* const option = app.get_option_no_throw(name);
  if (option != nullptr && option->get_positional()) name = option->get_name(true);
  const std::string noun = is_option(name) ? "option" : "argument";
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::RequiredError:
      return fmt::format("missing {} {}", noun, name);
    case CLI::ExitCodes::ArgumentMismatch:
      if (option != nullptr && option->count() > 1)
        return fmt::format("{} is given {} times; expected one", name, option->count());
      return fmt::format("{} requires a value", name);
    case CLI::ExitCodes::ConversionError:
    case CLI::ExitCodes::InvalidError:
      return fmt::format("{} is a flag and accepts no value", name);
    default:
      return text;
  }
}

// Adds the name of the environment variable that has the wrong value.
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

// Proposes the entire command if only the name of its output is missing.
std::string proposal(const CLI::App& verb, Words words) {
  const CLI::Option* const in = verb.get_options().empty() ? nullptr : verb.get_option_no_throw("IN");
  const CLI::Option* const bundle = verb.get_option_no_throw("BUNDLE");
  const CLI::Option* const out = verb.get_option_no_throw("OUT");
  const CLI::Option* const input = in != nullptr ? in : bundle;
  const Verb* const row = find_verb(verb.get_name());
  if (out == nullptr || out->count() > 0 || input == nullptr || input->count() != 1 || row == nullptr ||
      row->output_ending.empty())
    return {};
  const std::string& path = input->results().front();
  const std::string output = proposed_output(path, row->output_ending);
  words.insert(std::find(words.begin() + 1, words.end(), path) + 1, output);
  words.insert(words.begin(), "sptile");
  return fmt::format("; for example:\n  {}", shell_line(words));
}

// Unknown options are reported first.
int report_usage(const CommandLine& line, const Words& words, const CLI::ParseError& error) {
  const CLI::App& app = *innermost(line.app);
  const Words left = line.app.remaining(true);
  const auto unknown = std::ranges::find_if(left, is_option);
  std::string text;
  if (unknown != left.end())
    text = about_unknown(app, *unknown);
  else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
    text = parse_message(app, error) + proposal(app, words);
  else if (!left.empty())
    text = fmt::format("unexpected argument {}", left.front());
  else
    text = with_variable(app, words, parse_message(app, error));
  const std::string path = path_of(app);
  text += fmt::format("\nsee 'sptile {}--help'", path.empty() ? path : path + " ");
  return complain(path, {Errc::usage, text, {}});
}

// Prints the text of --help or --version.
int print_help(const CommandLine& line, const CLI::ParseError& error) {
  std::ostringstream text;
  const int code = line.app.exit(error, text, text);
  write_text(stdout, text.str());
  return code;
}

// Evaluated before parsing, so that parser errors are colored as well.
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
  const bool detailed = move_verb_first(words);
  const auto line = std::make_shared<CommandLine>(detailed);
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
