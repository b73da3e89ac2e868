#include "formats/io/child_trial.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>

namespace sptile::formats {
namespace {

// Handlers are those of the parent, and are about its files.
void die_plainly() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM})
    ::signal(number, SIG_DFL);
  constexpr rlimit kNone{0, 0};
  ::setrlimit(RLIMIT_CORE, &kNone);
}

}  // namespace

bool survives(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child < 0) return true;
  if (child == 0) {
    die_plainly();
    try {
      action();
    } catch (const std::exception&) {  // short of memory, perhaps: the parent will say so
    }
    ::_exit(0);
  }
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace sptile::formats
