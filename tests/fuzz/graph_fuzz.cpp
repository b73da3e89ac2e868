// Reads any bytes as each kind of text but Matrix Market: a matrix that is accepted is a valid CSR.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats/io/files/available_memory.hpp"
#include "formats/io/graph/edge_list.hpp"
#include "formats/io/graph/metis_graph.hpp"
#include "formats/io/text/harwell_boeing.hpp"
#include "formats/io/text/smtx.hpp"
#include "formats/io/text/tns.hpp"
#include "formats/layout/csr.hpp"

namespace {

using namespace sptile::formats;

void check(const sptile::Result<ReadMatrix>& matrix) {
  if (!matrix || check_csr(matrix->csr.view())) return;
  std::fprintf(stderr, "graph_fuzz: the matrix breaks an invariant\n");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryLimit limit(1 << 20);  // a vertex of many digits makes an honest, large matrix
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  starts_edge_list(bytes);
  check(read_edge_list(InputBytes::from_memory(bytes, "fuzz.txt"), {}));
  check(read_edge_list(InputBytes::from_memory(bytes, "fuzz.txt"), {0, ',', "weight,source,target"}));
  check(read_metis_graph(InputBytes::from_memory(bytes, "fuzz.graph")));
  check(read_smtx(InputBytes::from_memory(bytes, "fuzz.smtx")));
  check(read_tns(InputBytes::from_memory(bytes, "fuzz.tns")));
  check(read_harwell_boeing(InputBytes::from_memory(bytes, "fuzz.rua"), true));
  return 0;
}
