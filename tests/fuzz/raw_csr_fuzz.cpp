// Reads any bytes as a raw CSR file: not crashing, and a matrix that is accepted is a valid CSR.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats/io/binary/raw_csr.hpp"
#include "formats/io/files/available_memory.hpp"
#include "formats/layout/csr.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sptile::formats;
  static const MemoryLimit limit(1 << 20);  // an honest header may name 2^31 rows
  const auto matrix =
      read_raw_csr(InputBytes::from_memory({reinterpret_cast<const char*>(data), size}, "fuzz.csr"));
  if (!matrix || check_csr(matrix->view())) return 0;
  std::fprintf(stderr, "raw_csr_fuzz: the matrix breaks an invariant\n");
  std::abort();
}
