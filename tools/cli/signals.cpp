#include "tools/cli/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/core/printable.hpp"
#include "formats/io/files/atomic_file.hpp"
#include "tools/cli/mapped_file.hpp"

namespace sptile::tools {
namespace {

volatile sig_atomic_t progress_is_painted = 0;
std::atomic<bool> is_ending{false};

// Writes to stderr without stdio, which must not be used in a signal handler.
void write_now(std::string_view text) {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

void clean_up() {
  formats::discard_unfinished_files();
  if (progress_is_painted != 0) write_now("\r\033[K");
}

void die_of(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void on_signal(int number) {
  clean_up();
  die_of(number);
}

void on_bus_error(int number, siginfo_t* info, void*) {
  while (is_ending.exchange(true)) ::pause();  // another thread reads the same truncated file
  std::array<char, PATH_MAX> buffer;
  const std::string_view path = mapped_file(info->si_addr, buffer);
  clean_up();
  if (path.empty()) return die_of(number);
  show(path, write_now);
  write_now(": was truncated while it was read; try again when its writer has finished, or use --copy\n");
  ::_exit(static_cast<int>(Errc::io));
}

}  // namespace

void clean_up_on_signals(bool painting) {
  progress_is_painted = painting ? 1 : 0;
  ::signal(SIGXFSZ, SIG_IGN);  // the write that exceeds the limit then fails and is reported
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // ignored by nohup
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_signal;
    ::sigaction(number, &action, nullptr);
  }
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace sptile::tools
