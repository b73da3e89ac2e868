// Reads any bytes as an archive, compressed or not, and as the matrix in it: not crashing, the text does not
// depend on the sizes of the reads, and a matrix that is accepted is a valid CSR. A last byte of 1 makes
// checksums of headers right: few changes would leave them so.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "formats/io/matrix_market/matrix_market_reader.hpp"
#include "formats/io/stream/text_stream.hpp"
#include "formats/layout/csr.hpp"

using namespace sptile::formats;

namespace {

constexpr std::size_t kChecksum = 148;

void sign_headers(std::string& archive) {
  for (std::size_t at = 0; at + kTarBlock <= archive.size(); at += kTarBlock) {
    if (archive.compare(at + 257, 5, "ustar") != 0) continue;
    archive.replace(at + kChecksum, 8, 8, ' ');
    unsigned sum = 0;
    for (std::size_t i = 0; i < kTarBlock; ++i) sum += static_cast<unsigned char>(archive[at + i]);
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    archive.replace(at + kChecksum, sizeof digits, digits, sizeof digits);
  }
}

std::string read(const std::string& archive, std::size_t step) {
  auto stream = TextStream::open(InputBytes::from_memory(archive, "fuzz.tar"));
  if (!stream) return stream.error().text();
  std::string text, room(step, '\0');
  for (;;) {
    const auto count = stream->read(room);
    if (!count) return text + count.error().text();
    if (*count == 0) return text;
    text.append(room, 0, static_cast<std::size_t>(*count));
  }
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "tar_fuzz: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string archive(reinterpret_cast<const char*>(data), size);
  if (!archive.empty() && archive.back() == 1) sign_headers(archive);
  expect(read(archive, 4096) == read(archive, 37), "the text depends on the sizes of the reads");
  const auto matrix = read_matrix_market(InputBytes::from_memory(archive, "fuzz.tar"), {});
  if (matrix) expect(check_csr(matrix->csr.view()).has_value(), "the matrix breaks an invariant");
  return 0;
}
