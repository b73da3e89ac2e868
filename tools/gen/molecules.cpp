#include <algorithm>
#include <numeric>
#include <vector>

#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {{"count", "number of molecules, 12 to 39 atoms each", true, 0, 50e6}};

// A molecule. Its random stream yields the numbers of atoms and rings first, then the bonds.
struct Molecule {
  RandomStream random;
  std::int64_t atoms, rings;
  Molecule(std::uint64_t seed, std::int64_t number)
      : random(seed, static_cast<std::uint64_t>(number)),
        atoms(12 + random.below(28)),
        rings(1 + random.below(4)) {}

  [[nodiscard]] std::int64_t edges() const { return 2 * atoms - 1 + rings; }  // self-loops, tree bonds, rings

  void place(EdgeList& list, std::int64_t edge, std::int64_t base) {
    for (std::int64_t i = 0; i < atoms; ++i) list.set(edge++, base + i, base + i);
    for (std::int64_t i = 1; i < atoms; ++i) {  // a chain with short branches
      const std::int64_t lowest = std::max<std::int64_t>(0, i - 4);
      const std::int64_t parent = random.uniform() < 0.7 ? i - 1 : lowest + random.below(i - lowest);
      list.set(edge++, base + i, base + parent);
    }
    for (std::int64_t i = 0; i < rings; ++i) {
      const std::int64_t atom = random.below(atoms - 5);
      list.set(edge++, base + atom, base + atom + 5);
    }
  }
};

Result<formats::Csr> make_molecules(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t count = integer_argument(arguments, "count");
  std::vector<std::int64_t> first_atom(static_cast<std::size_t>(count) + 1), first_edge(first_atom.size());
  parallel::loop(std::int64_t{0}, count, [&](std::int64_t m) {
    const Molecule molecule(seed, m);
    first_atom[static_cast<std::size_t>(m) + 1] = molecule.atoms;
    first_edge[static_cast<std::size_t>(m) + 1] = molecule.edges();
  });
  std::partial_sum(first_atom.begin(), first_atom.end(), first_atom.begin());
  std::partial_sum(first_edge.begin(), first_edge.end(), first_edge.begin());
  EdgeList edges(first_edge.back());
  for_each_counted(progress, "generate", count, [&](std::int64_t m) {
    Molecule(seed, m).place(edges, first_edge[static_cast<std::size_t>(m)],
                            first_atom[static_cast<std::size_t>(m)]);
  });
  return csr_from_edges(std::move(edges), first_atom.back(), progress);
}
}  // namespace

const Generator kMolecules = {"molecules",  "Block-diagonal batch of small molecule-like graphs with loops",
                              "--count 60", Shape::symmetric,
                              kArguments,   make_molecules};

}  // namespace sptile::tools::gen
