#include "tools/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace sptile::tools {

std::optional<int> terminal_columns(std::FILE* stream) {
  const int fd = ::fileno(stream);
  if (::isatty(fd) != 1) return std::nullopt;
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

bool is_capable_terminal(std::FILE* stream) {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(::fileno(stream)) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace sptile::tools
