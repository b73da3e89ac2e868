// Makes an HDF5 file of any bytes, sound in itself, with arrays and a descriptor as they come, and reads it
// as binsparse: not crashing, and a matrix that is accepted is a valid CSR. Damage to HDF5 itself is HDF5's
// to find.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "tests/formats/io/binsparse_file.hpp"
#include "tests/fuzz/read_fuzzed.hpp"

using namespace sptile;

namespace {

// The descriptor up to a zero; then for each array its type, its number of bytes, and these.
BinsparseFile unfold(std::string_view bytes) {
  BinsparseFile file;
  const auto take = [&](std::size_t count) {
    const std::string_view piece = bytes.substr(0, count);
    bytes.remove_prefix(piece.size());
    return piece;
  };
  file.descriptor = take(std::min(bytes.find('\0'), bytes.size()));
  take(1);
  for (const char* name : {"pointers_to_1", "indices_1", "indices_0", "values"}) {
    if (bytes.size() < 2) break;
    const auto dtype = static_cast<DType>(static_cast<unsigned char>(bytes[0]) % 10);
    const std::string_view content = take(2 + static_cast<unsigned char>(bytes[1])).substr(2);
    if (dtype != DType::none) file.arrays.push_back({name, dtype, std::string(content)});
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BinsparseFile file = unfold({reinterpret_cast<const char*>(data), size});
  const int fd = ::memfd_create("fuzz.bsp.h5", MFD_CLOEXEC);
  if (fd < 0) std::abort();
  with_hdf5_thread(fd, [&](formats::Hdf5Helper helper) {
    if (!file.write(formats::Hdf5File::create(std::move(helper), fd, 0))) std::abort();
  });
  read_fuzzed(fd, "binsparse_fuzz");
  ::close(fd);
  return 0;
}
