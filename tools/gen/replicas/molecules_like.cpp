// Batches of molecules: chains of heavy atoms with branches and rings, and hydrogen atoms with one bond.
#include <algorithm>

#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kYeastArguments[] = {replica_rows(3138114)};
constexpr ArgumentSpec kOvcarArguments[] = {replica_rows(1889542)};
// Maximum numbers of bonds of a heavy atom in the tree of heavy atoms, and in total.
constexpr int kHeavyBonds = 3, kBonds = 4;

struct MoleculeData {
  double bonds_per_atom;
  std::int64_t atoms;  // mean number of atoms
  std::uint64_t number;
};

// A molecule whose vertices start at `base`.
class Molecule {
 public:
  Molecule(ReplicaStream& random, std::int64_t base, std::int64_t atoms, Edges& edges)
      : random_(random),
        base_(base),
        atoms_(atoms),
        heavy_(std::max<std::int64_t>(1, atoms * 55 / 100)),
        edges_(edges),
        bonds_(static_cast<std::size_t>(atoms), 0) {}

  void place_tree() {
    for (std::int64_t i = 1; i < atoms_; ++i) bond(find_parent(i), i);
  }

  // Closes rings of six heavy atoms, except where an atom has no free bond.
  void place_rings(std::int64_t count) {
    for (std::int64_t ring = 0; ring < count; ++ring) {
      const std::int64_t first = random_.below(heavy_), last = first + 5;
      if (last < heavy_ && bonds(first) < kBonds && bonds(last) < kBonds) bond(first, last);
    }
  }

 private:
  std::int64_t find_parent(std::int64_t i) {
    constexpr int kTrials = 30;
    const bool heavy = i < heavy_;
    for (int trial = 0; trial < kTrials; ++trial) {
      const std::int64_t atom =
          heavy ? i - 1 - random_.below(std::min<std::int64_t>(i, 4)) : random_.below(heavy_);
      if (bonds(atom) < (heavy ? kHeavyBonds : kBonds)) return atom;
    }
    return i - 1;
  }

  void bond(std::int64_t a, std::int64_t b) {
    ++bonds(a);
    ++bonds(b);
    edges_.emplace_back(base_ + a, base_ + b);
  }

  int& bonds(std::int64_t atom) { return bonds_[static_cast<std::size_t>(atom)]; }

  ReplicaStream& random_;
  std::int64_t base_, atoms_, heavy_;
  Edges& edges_;
  std::vector<int> bonds_;
};

// The number of random numbers of a molecule depends on their values: the molecules are drawn serially.
Result<formats::Csr> make_batch(const MoleculeData& data, std::int64_t rows, std::uint64_t seed,
                                Progress* progress) {
  ReplicaStream random(replica_seed(data.number, seed));
  Edges edges;
  for (std::int64_t base = 0; base < rows;) {
    const std::int64_t atoms = std::min(data.atoms / 2 + random.below(data.atoms), rows - base);
    Molecule molecule(random, base, atoms, edges);
    molecule.place_tree();
    const double bonds = data.bonds_per_atom * static_cast<double>(atoms) - static_cast<double>(atoms - 1);
    molecule.place_rings(static_cast<std::int64_t>(bonds + random.uniform()));
    base += atoms;
  }
  return csr_from_drawn_edges(edges, rows, progress);
}

Result<formats::Csr> make_yeast(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  return make_batch({2.07 / 2.0, 40, 14}, integer_argument(arguments, "rows"), seed, progress);
}

Result<formats::Csr> make_ovcar(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  return make_batch({2.09 / 2.0, 46, 15}, integer_argument(arguments, "rows"), seed, progress);
}
}  // namespace

const Generator kYeasthLike = replica("yeasth-like", "Replica of YeastH: molecules of 40 atoms on average",
                                      "--rows 2000", kYeastArguments, make_yeast);
const Generator kOvcarLike = replica("ovcar-8h-like", "Replica of OVCAR-8H: molecules of 46 atoms on average",
                                     "--rows 2000", kOvcarArguments, make_ovcar);

}  // namespace sptile::tools::gen
