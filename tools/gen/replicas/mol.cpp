#include <algorithm>

#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/shuffled_graph.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"count", "number of molecules, 12 to 39 atoms each", true, 0, 50e6, 40000.0}};

// Appends a molecule whose atoms start at `base`, and returns its number of atoms.
std::int64_t draw_molecule(ShuffledGraphStream& random, std::int64_t base, Edges& edges) {
  const std::int64_t atoms = 12 + random.below(28);
  for (std::int64_t i = 1; i < atoms; ++i) {  // a chain with short branches
    const std::int64_t lowest = std::max<std::int64_t>(0, i - 4);
    const std::int64_t parent = random.uniform() < 0.7 ? i - 1 : lowest + random.below(i - lowest);
    edges.emplace_back(base + i, base + parent);
  }
  const std::int64_t rings = 1 + random.below(4);
  for (std::int64_t ring = 0; ring < rings; ++ring) {
    const std::int64_t atom = random.below(atoms - 5);
    edges.emplace_back(base + atom, base + atom + 5);
  }
  for (std::int64_t i = 0; i < atoms; ++i) edges.emplace_back(base + i, base + i);
  return atoms;
}

Result<formats::Csr> make_mol(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t count = integer_argument(arguments, "count");
  ShuffledGraphStream random(seed);
  Edges edges;
  std::int64_t atoms = 0;
  for (std::int64_t molecule = 0; molecule < count; ++molecule) atoms += draw_molecule(random, atoms, edges);
  return shuffled_graph(edges, atoms, EdgeKind::undirected, random, progress);
}
}  // namespace

const Generator kMol =
    replica("mol", "Molecules with self-loops in random order, as in the tables of orderings", "--count 60",
            kArguments, make_mol);

}  // namespace sptile::tools::gen
