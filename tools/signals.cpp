#include "tools/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include "formats/io/atomic_file.hpp"

namespace sptile::tools {
namespace {
volatile sig_atomic_t progress_is_painted = 0;

void on_signal(int number) {
  formats::discard_unfinished_files();
  if (progress_is_painted != 0) {
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, "\r\033[K", 4);
  }
  ::signal(number, SIG_DFL);
  ::raise(number);
}
}  // namespace

void clean_up_on_signals(bool painting) {
  progress_is_painted = painting ? 1 : 0;
  ::signal(SIGXFSZ, SIG_IGN);  // the write that meets the limit fails instead, and is reported
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;  // nohup
    action = {};
    action.sa_handler = on_signal;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace sptile::tools
