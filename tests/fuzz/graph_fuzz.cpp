// Reads any bytes as each kind of text but Matrix Market: a matrix that is accepted is a valid CSR.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats/io/edge_list.hpp"
#include "formats/io/harwell_boeing.hpp"
#include "formats/io/metis_graph.hpp"
#include "formats/io/smtx.hpp"
#include "formats/io/tns.hpp"
#include "formats/layout/csr.hpp"

namespace {

using namespace sptile::formats;

void check(const sptile::Result<ReadMatrix>& matrix) {
  if (!matrix || check_csr(matrix->csr.view())) return;
  std::fprintf(stderr, "graph_fuzz: the matrix breaks an invariant\n");
  std::abort();
}

// A vertex of many digits makes an honest, large matrix: a fuzzer should not wait for it.
bool has_long_number(std::string_view text) {
  int digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 6) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (has_long_number(bytes)) return 0;
  starts_edge_list(bytes);
  check(read_edge_list(InputBytes::from_memory(bytes, "fuzz.txt"), {}));
  check(read_edge_list(InputBytes::from_memory(bytes, "fuzz.txt"), {0, ',', "weight,source,target"}));
  check(read_metis_graph(InputBytes::from_memory(bytes, "fuzz.graph")));
  check(read_smtx(InputBytes::from_memory(bytes, "fuzz.smtx")));
  check(read_tns(InputBytes::from_memory(bytes, "fuzz.tns")));
  check(read_harwell_boeing(InputBytes::from_memory(bytes, "fuzz.rua"), true));
  return 0;
}
