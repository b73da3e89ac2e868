// Reads any bytes as a MAT-file: not crashing, and a matrix that is accepted is a valid CSR.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats/io/binary/mat.hpp"
#include "formats/io/files/available_memory.hpp"
#include "formats/layout/csr.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sptile::formats;
  static const MemoryLimit limit(1 << 20);  // an honest header may name 2^31 rows
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto matrix = read_mat(InputBytes::from_memory(bytes, "fuzz.mat"), true);
  if (!matrix || check_csr(matrix->csr.view())) return 0;
  std::fprintf(stderr, "mat_fuzz: the matrix breaks an invariant\n");
  std::abort();
}
