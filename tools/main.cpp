// sptile VERB [options]: parses, runs the verb, turns errors into messages and exit codes.
#include <fmt/format.h>
#include <omp.h>
#include <tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>

#include "tools/names.hpp"
#include "tools/progress_bar.hpp"
#include "tools/signals.hpp"
#include "tools/verb.hpp"

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

void declare_common(CLI::App& app, CommonOptions& common) {
  app.add_flag("--json", common.json, "print one JSON object instead of text");
  app.add_option("--threads", common.threads, "threads to use; 0: all")
      ->envname("SPTILE_THREADS")
      ->check(CLI::Range(0, kMaxThreads));
  app.add_option("--seed", common.seed, "seed of every random choice");
  app.add_flag("-q,--quiet", common.quiet, "errors and results only");
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
    app.set_version_flag("--version", "sptile " SPTILE_VERSION, "print the version");
    app.footer("'sptile VERB --help' tells more about a verb.");
    for (const Verb& verb : verbs()) {
      CLI::App* const sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
      sub->set_help_flag("-h,--help", "print this help");
      sub->footer("Example:\n" + std::string(verb.example));
      Action action = verb.declare(*sub);
      declare_common(*sub, common);
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
  Session session{chosen.get_name(), line.common, {}, nullptr};
  std::unique_ptr<ProgressBar> bar;
  if (painting) bar = std::make_unique<ProgressBar>(session.progress);
  session.bar = bar.get();
  Status status = action(session);
  if (status && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    return fail(Errc::io, "writing the result failed", "<stdout>");
  return status;
}

// The first word when it is no option and no verb.
std::optional<Error> unknown_verb(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  const std::vector<std::string> known = names_of(verbs());
  if (std::find(known.begin(), known.end(), argv[1]) != known.end()) return std::nullopt;
  return unknown_name("verb", argv[1], known);
}

int run_command(int argc, char** argv) {
  if (const auto error = unknown_verb(argc, argv)) return report("", *error);
  CommandLine line;
  std::string verb;
  try {
    line.app.require_subcommand(1);
    line.app.parse(argc, argv);
    for (const auto& [sub, action] : line.actions) {
      if (!sub->parsed()) continue;
      verb = sub->get_name();
      if (const Status status = run_verb(line, *sub, action); !status) return report(verb, status.error());
    }
    return exit_code(Errc::ok);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return line.app.exit(error);  // --help, --version
    for (const auto& [sub, action] : line.actions)
      if (sub->parsed()) verb = " " + sub->get_name();
    std::fputs(fmt::format("sptile{}: {}\n'sptile{} --help' tells what it takes\n", verb, error.what(), verb)
                   .c_str(),
               stderr);
    return exit_code(Errc::usage);
  } catch (const std::bad_alloc&) {
    return report(verb, {Errc::io, "out of memory", {}});
  } catch (const std::exception& error) {
    return report(verb,
                  {Errc::internal, fmt::format("internal error, please report it: {}", error.what()), {}});
  }
}

}  // namespace
}  // namespace sptile::tools

int main(int argc, char** argv) { return sptile::tools::run_command(argc, argv); }
