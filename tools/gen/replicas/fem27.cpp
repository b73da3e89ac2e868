#include <string>

#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/shuffled_graph.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"side", "side length of the grid of SIDE x SIDE x SIDE nodes", true, 1, 1290, 64.0}};

Result<formats::Csr> make_fem27(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  Parameters stencil = arguments;
  stencil.emplace_back("dof", 1);
  const Result<formats::Csr> ordered = kStencil27.structure(stencil, seed, progress);
  if (!ordered) return tl::unexpected(ordered.error());
  ShuffledGraphStream random(seed);
  Edges edges;
  for (std::int64_t r = 0; r < ordered->rows; ++r)
    for (std::int64_t k = ordered->row_ptr[r]; k < ordered->row_ptr[r + 1]; ++k)
      edges.emplace_back(r, ordered->col_idx[k]);
  return shuffled_graph(edges, ordered->rows, EdgeKind::directed, random, progress);
}
}  // namespace

const Generator kFem27 =
    replica("fem27", "Cubic grid, 27-point stencil, in random order, as in the tables of orderings",
            "--side 8", kArguments, make_fem27);

}  // namespace sptile::tools::gen
