// Reads any bytes as an .npz archive: not crashing, and a matrix that is accepted is a valid CSR.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "formats/io/files/available_memory.hpp"
#include "formats/io/npz/npz.hpp"
#include "formats/layout/csr.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sptile::formats;
  static const MemoryLimit limit(1 << 20);
  try {
    auto zip = ZipReader::from_memory({reinterpret_cast<const char*>(data), size}, "fuzz.npz");
    if (!zip) return 0;
    const auto matrix = read_npz(std::move(*zip), true);
    if (!matrix || check_csr(matrix->csr.view())) return 0;
  } catch (const std::bad_alloc&) {
    return 0;  // no array that is larger than the limit was asked for (-malloc_limit_mb)
  }
  std::fprintf(stderr, "npz_fuzz: the matrix breaks an invariant\n");
  std::abort();
}
