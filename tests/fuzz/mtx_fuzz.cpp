// Reads any bytes as a Matrix Market file. Beyond not crashing: a matrix that is accepted is a valid CSR, the
// size of the blocks does not matter, and what is written reads back identically.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats/io/files/available_memory.hpp"
#include "formats/io/matrix_market/matrix_market_reader.hpp"
#include "formats/io/stream/decompress.hpp"
#include "formats/layout/csr.hpp"

namespace {

using namespace sptile;
using namespace sptile::formats;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "mtx_fuzz: %s\n", what);
  std::abort();
}

Result<MtxMatrix> read(std::string_view bytes, DType dtype, std::int64_t block_bytes) {
  MtxReadOptions options;
  options.dtype = dtype;
  options.real_part = true;
  MtxReadSizes sizes;
  sizes.block_bytes = block_bytes;
  sizes.segment_entries = block_bytes;
  sizes.memory_limit = 1 << 20;  // an honest file may have 2^31 rows, a fuzzer should not wait for them
  return read_matrix_market(InputBytes::from_memory(bytes, "fuzz.mtx"), options, sizes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryLimit limit(64 << 20);  // a zstd frame may ask for a window of 2 GiB
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
  const DType dtype = kTypes[size % 4];
  const Result<MtxMatrix> whole = read(bytes, dtype, 1 << 16);
  const Result<MtxMatrix> pieces = read(bytes, dtype, 5);
  // Entries in several pieces of memory are copied into one: what is needed depends on the size of the
  // blocks.
  const auto lacks_memory = [](const Result<MtxMatrix>& read) {
    return !read && read.error().code == Errc::io;
  };
  if (lacks_memory(whole) || lacks_memory(pieces)) return 0;
  require(whole.has_value() == pieces.has_value(), "block size changes the verdict");
  if (!whole) {
    // Compressed data that breaks off may be seen before or after the broken line that it ends in.
    if (find_codec(bytes) == nullptr)
      require(whole.error().text() == pieces.error().text(), "block size changes the message");
    return 0;
  }
  require(identical(whole->csr.view(), pieces->csr.view()), "block size changes the matrix");
  require(check_csr(whole->csr.view()).has_value(), "the matrix breaks an invariant");
  return 0;
}
