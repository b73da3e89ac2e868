// sptile VERB [options]: parses the command line, runs the verb, and converts errors to messages and exit
// codes.
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>

#include "formats/core/buffer.hpp"
#include "formats/io/files/atomic_file.hpp"
#include "runtime/threads/count.hpp"
#include "tools/cli/command_line.hpp"
#include "tools/cli/complaint.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/progress_bar.hpp"
#include "tools/cli/signals.hpp"

namespace sptile::tools {
namespace {
Status run_verb(const ParsedCommand& command) {
  const int threads = command.common.threads;
  std::optional<tbb::global_control> limit;
  if (threads > 0) {
    limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    runtime::set_default_threads(threads);
  }
  const bool painting = !command.common.no_progress && !command.common.quiet && stderr_is_terminal();
  clean_up_on_signals(painting);
  Session session;
  session.verb = command.verb;
  session.common = command.common;
  session.seed = command.common.seed;
  session.copy = command.common.copy;
  std::unique_ptr<ProgressBar> bar;
  if (painting) bar = std::make_unique<ProgressBar>(session.progress);
  session.bar = bar.get();
  return command.action(session);
}

// If no thread can be started, the C++ library throws a system_error and oneTBB a bare runtime_error. sptile
// itself throws neither.
bool is_refusal(const std::exception& error) {
  return dynamic_cast<const std::system_error*>(&error) != nullptr ||
         typeid(error) == typeid(std::runtime_error);
}

// If memory or threads are exhausted, the OpenMP library prints a message and calls exit(1).
bool returned_from_command = false;
void on_exit() {
  if (returned_from_command) return;
  formats::discard_unfinished_files();
  std::_Exit(static_cast<int>(Errc::io));
}

int run_command(std::string& verb, int argc, char** argv) {
  try {
    const auto command = parse_command_line({argv + 1, argv + argc});
    if (!command) return command.error();
    verb = command->verb;
    const Status status = run_verb(*command);
    return status ? static_cast<int>(Errc::ok) : complain(verb, status.error());
  } catch (const std::bad_alloc& error) {
    return complain(verb, {Errc::io, formats::out_of_memory(error), {}});
  } catch (const std::exception& error) {
    if (is_refusal(error))
      return complain(
          verb, {Errc::io, fmt::format("system error: {}; use fewer threads (--threads)", error.what()), {}});
    return complain(verb,
                    {Errc::internal, fmt::format("internal error, please report it: {}", error.what()), {}});
  }
}

// Every exit checks that the output of verbs and help was written.
int run(int argc, char** argv) {
  try {
    std::string verb;
    const int code = run_command(verb, argc, argv);
    const Status written = finish_output();
    return code == 0 && !written ? complain(verb, written.error()) : code;
  } catch (const std::bad_alloc&) {  // no memory for a message either
    write_control(stderr, "sptile: out of memory\n");
    return static_cast<int>(Errc::io);
  }
}

}  // namespace
}  // namespace sptile::tools

int main(int argc, char** argv) {
  std::atexit(sptile::tools::on_exit);
  const int code = sptile::tools::run(argc, argv);
  sptile::tools::returned_from_command = true;
  return code;
}
