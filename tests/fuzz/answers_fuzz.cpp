// Answers of an HDF5 helper that a file has broken: whatever it says, the process that asked does not crash,
// and a matrix that is accepted is a valid CSR.
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "formats/io/hdf5/hdf5_message.hpp"
#include "tests/fuzz/read_fuzzed.hpp"

using namespace sptile;

namespace {

// For each message a kind and a length, in two bytes each, and what follows: libFuzzer finds these sooner
// than heads of eight bytes.
std::string unfold(const std::uint8_t* data, std::size_t size) {
  std::string messages;
  while (size >= 3) {
    const std::size_t bytes = std::min<std::size_t>(size - 3, data[1] | data[2] << 8);
    const formats::Hdf5Head head{data[0], static_cast<std::uint32_t>(bytes)};
    messages.append(reinterpret_cast<const char*>(&head), sizeof head);
    messages.append(reinterpret_cast<const char*>(data) + 3, bytes);
    data += 3 + bytes, size -= 3 + bytes;
  }
  return messages + std::string(reinterpret_cast<const char*>(data), size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kFileBytes = 256;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) std::abort();
  const std::string messages = unfold(data, size);
  if (::send(pair[1], messages.data(), messages.size(), 0) != static_cast<ssize_t>(messages.size()))
    std::abort();
  ::shutdown(pair[1], SHUT_WR);
  read_fuzzed(formats::Hdf5Helper::connected_to(pair[0]), kFileBytes, "answers_fuzz");
  ::close(pair[1]);
  return 0;
}
