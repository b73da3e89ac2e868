// Finite elements in three dimensions: the structure of stencil27 with the values of the replicas.
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"side", "side length of the grid of SIDE x SIDE x SIDE nodes; published measurements use the default",
     true, 1, 894, 69.0}};

Result<formats::Csr> make_fem(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  Parameters stencil = arguments;
  stencil.emplace_back("dof", 3);
  return kStencil27.structure(stencil, seed, progress);
}
}  // namespace

const Generator kFemLike = replica("fem-like", "Finite elements: 27-point stencil, 3 unknowns per node",
                                   "--side 7", kArguments, make_fem);

}  // namespace sptile::tools::gen
