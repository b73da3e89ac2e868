// Reads short inputs as compressed texts, with little memory: a letter for the kind of text, '@' if it may be
// long, which takes milliseconds, and lines, each after a letter that says how often it is repeated. A matrix
// that is accepted is a valid CSR; arrays that memory has no room for are never asked for
// (-malloc_limit_mb).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "formats/io/files/available_memory.hpp"
#include "formats/io/graph/edge_list.hpp"
#include "formats/io/graph/metis_graph.hpp"
#include "formats/io/stream/compress.hpp"
#include "formats/io/text/harwell_boeing.hpp"
#include "formats/io/text/smtx.hpp"
#include "formats/io/text/tns.hpp"
#include "formats/layout/csr.hpp"

namespace {

using namespace sptile::formats;

constexpr std::size_t kLongest = 300 << 10;  // more edges than a piece of GrowingArray has

/// How often the line after a letter is repeated: one to eight times, or after a 't', if texts may be long,
/// as often as a long text can hold.
std::size_t times_of(char letter, bool may_be_long) {
  return letter == 't' && may_be_long ? kLongest : std::size_t{1} << (letter & 3);
}

/// Repeats each line as often as the letter before it says.
std::string expand(std::string_view lines, bool may_be_long) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n') + 1, lines.size());
    std::string_view line = lines.substr(0, end == 0 ? lines.size() : end);
    lines.remove_prefix(line.size());
    const std::size_t times = times_of(line.front(), may_be_long);
    line.remove_prefix(1);
    for (std::size_t i = 0; i < times && text.size() + line.size() <= kLongest; ++i) text += line;
  }
  return text;
}

std::string pack(const std::string& text) {
  std::string packed;
  find_compression("a.gz")->make()->encode(text, true, packed);
  return packed;
}

sptile::Result<ReadMatrix> read(char kind, InputBytes input) {
  switch (kind) {
    case 'g':
      return read_metis_graph(std::move(input));
    case 's':
      return read_smtx(std::move(input));
    case 't':
      return read_tns(std::move(input));
    case 'h':
      return read_harwell_boeing(std::move(input), true);
    case 'w':
      return read_edge_list(std::move(input), {0, ',', "weight,source,target"});
    default:
      return read_edge_list(std::move(input), {});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryLimit limit(4 << 20);
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string packed = pack(expand(bytes.substr(2), bytes[1] == '@'));
  try {
    const auto matrix = read(bytes.front(), InputBytes::from_memory(packed, "fuzz.gz"));
    if (!matrix || check_csr(matrix->csr.view())) return 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
  std::fprintf(stderr, "edge_list_fuzz: the matrix breaks an invariant\n");
  std::abort();
}
