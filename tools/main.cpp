// sptile VERB [options]: parses, runs the verb, turns errors into messages and exit codes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>
#include <tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#include "formats/io/atomic_file.hpp"
#include "tools/names.hpp"
#include "tools/progress_bar.hpp"
#include "tools/signals.hpp"
#include "tools/verb.hpp"
#include "tools/version.hpp"

namespace sptile::tools {
namespace {
constexpr int kMaxThreads = 4096;

int exit_code(Errc code) { return static_cast<int>(code); }

// "file:line: what" where a place is known, "sptile verb: what" where none is.
int report(const std::string& verb, const Error& error) {
  const std::string speaker = verb.empty() ? "sptile" : "sptile " + verb;
  std::fputs(((error.where.empty() ? speaker + ": " : "") + error.text() + "\n").c_str(), stderr);
  return exit_code(error.code);
}

void declare_common(Options& app, CommonOptions& common) {
  app.add_flag("--json", common.json, "print one JSON object instead of text");
  app.add_option("--threads", common.threads, "threads to use; 0: all")
      .environment("SPTILE_THREADS")
      .range(0, kMaxThreads);
  app.add_option("--seed", common.seed, "seed of every random choice");
  app.add_flag("-q,--quiet", common.quiet, "errors, warnings and results only");
  app.add_flag("-v,--verbose", common.verbose, "tell what is being done, on stderr");
  app.add_flag("--no-progress", common.no_progress, "no progress bar, not even on a terminal");
}

struct CommandLine {
  CLI::App app{"Sparse matrices as tensor-core tiles: convert once, multiply many times.", "sptile"};
  CommonOptions common;
  std::vector<std::pair<CLI::App*, Action>> actions;

  CommandLine() {
    app.option_defaults()->always_capture_default();
    app.set_help_flag("-h,--help", "print this help");
    app.set_version_flag("--version", fmt::format("sptile {}", version()), "print the version");
    app.require_subcommand(1);
    app.get_formatter()->label("SUBCOMMAND", "VERB");
    app.footer("'sptile VERB --help' tells more about a verb.");
    for (const Verb& verb : verbs()) {
      CLI::App* const sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
      sub->group("Verbs");
      sub->set_help_flag("-h,--help", "print this help");
      sub->footer("Example:\n" + std::string(verb.example));
      Options options(*sub);
      Action action = verb.declare(options);
      declare_common(options, common);
      actions.emplace_back(sub, std::move(action));
    }
  }
};

Status run_verb(const CommandLine& line, const CLI::App& chosen, const Action& action) {
  const int threads = line.common.threads;
  std::optional<tbb::global_control> limit;
  if (threads > 0) {
    limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    omp_set_num_threads(threads);
  }
  const bool painting = !line.common.no_progress && !line.common.quiet && stderr_is_terminal();
  clean_up_on_signals(painting);
  Session session;
  session.verb = chosen.get_name();
  session.common = line.common;
  session.seed = line.common.seed;
  std::unique_ptr<ProgressBar> bar;
  if (painting) bar = std::make_unique<ProgressBar>(session.progress);
  session.bar = bar.get();
  Status status = action(session);
  if (status && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    return fail(Errc::io, "writing the result failed", "<stdout>");
  return status;
}

// A verb, or a kind below a verb, that is missing or unknown.
std::optional<Error> wrong_word(const CLI::App& app, int argc, char** argv, int at = 1) {
  std::vector<std::string> known;
  const CLI::App* chosen = nullptr;
  const bool given = at < argc;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(sub->get_name());
    if (given && sub->get_name() == argv[at]) chosen = sub;
  }
  if (known.empty() || (given && argv[at][0] == '-')) return std::nullopt;
  if (chosen != nullptr) return wrong_word(*chosen, argc, argv, at + 1);
  const std::string_view what = at == 1 ? "verb" : "kind";
  if (given) return unknown_name(what, argv[at], known);
  return Error{Errc::usage, fmt::format("a {} is wanted: {}", what, fmt::join(known, ", ")), {}};
}

// The option that was perhaps meant by the first unknown one.
std::string option_hint(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : app.remaining(true)) {
    const std::string nearest = nearest_name(word.substr(0, word.find('=')), known);
    if (word.starts_with("--") && !nearest.empty()) return fmt::format("; did you mean {}?", nearest);
  }
  return {};
}

int report_usage(const CommandLine& line, const CLI::ParseError& error) {
  std::string verb, hint;
  for (const auto& [sub, action] : line.actions) {
    if (!sub->parsed()) continue;
    verb = " " + sub->get_name();
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) hint = option_hint(*sub);
  }
  std::fputs(
      fmt::format("sptile{}: {}{}\n'sptile{} --help' tells what it takes\n", verb, error.what(), hint, verb)
          .c_str(),
      stderr);
  return exit_code(Errc::usage);
}

// Where no thread can be started, the C++ library throws a system_error and TBB a bare runtime_error; nothing
// of ours throws either.
bool is_refusal(const std::exception& error) {
  return dynamic_cast<const std::system_error*>(&error) != nullptr ||
         typeid(error) == typeid(std::runtime_error);
}

// OpenMP's library, where it has no memory or cannot start a thread, says so and calls exit(1).
bool returned_from_command = false;
void on_exit() {
  if (returned_from_command) return;
  formats::discard_unfinished_files();
  std::_Exit(exit_code(Errc::io));
}

int run_command(int argc, char** argv) {
  std::string verb;
  try {
    CommandLine line;
    if (const auto error = wrong_word(line.app, argc, argv)) return report("", *error);
    try {
      line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return error.get_exit_code() == 0 ? line.app.exit(error)
                                        : report_usage(line, error);  // 0: --help, --version
    }
    for (const auto& [sub, action] : line.actions) {
      if (!sub->parsed()) continue;
      verb = sub->get_name();
      if (const Status status = run_verb(line, *sub, action); !status) return report(verb, status.error());
    }
    return exit_code(Errc::ok);
  } catch (const std::bad_alloc&) {
    return report(verb, {Errc::io, "out of memory", {}});
  } catch (const std::exception& error) {
    if (is_refusal(error))
      return report(
          verb, {Errc::io, fmt::format("the system refused: {}; --threads takes fewer", error.what()), {}});
    return report(verb,
                  {Errc::internal, fmt::format("internal error, please report it: {}", error.what()), {}});
  }
}

}  // namespace
}  // namespace sptile::tools

int main(int argc, char** argv) {
  std::atexit(sptile::tools::on_exit);
  const int code = sptile::tools::run_command(argc, argv);
  sptile::tools::returned_from_command = true;
  return code;
}
