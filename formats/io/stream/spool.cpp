#include "formats/io/stream/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "formats/io/files/system_error.hpp"

namespace sptile::formats {
namespace {

// Creates a temporary file without a name. Returns its descriptor.
Result<int> unnamed_file() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/sptile-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return system_failure(errno, "cannot create a temporary file", path);
  ::unlink(path.c_str());
  return fd;
}

Status write_all(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(errno, "cannot write a temporary file", {});
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return {};
}

Status copy_rest(InputBytes& input, int fd) {
  std::vector<char> block(1 << 20);
  for (;;) {
    const auto count = input.read(block);
    if (!count) return tl::unexpected(count.error());
    if (Status s = write_all(fd, block.data(), static_cast<std::size_t>(*count)); !s) return s;
    if (*count < std::ssize(block)) return {};
  }
}

}  // namespace

Result<InputBytes> spool(InputBytes input) {
  const auto fd = unnamed_file();
  if (!fd) return tl::unexpected(fd.error());
  if (Status s = copy_rest(input, *fd); !s) {
    ::close(*fd);
    return tl::unexpected(std::move(s.error()));
  }
  return InputBytes::from_file(*fd, input.name());
}

}  // namespace sptile::formats
