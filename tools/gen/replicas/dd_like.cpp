// Batches of protein structures: backbones with contacts between near and far residues.
#include <algorithm>

#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {replica_rows(334925)};

// Draws the contacts of residue i with earlier residues of the protein that starts at `base`.
void draw_contacts(ReplicaStream& random, std::int64_t base, std::int64_t i, Edges& edges) {
  const auto add = [&](std::int64_t j) { edges.emplace_back(base + j, base + i); };
  add(i - 1);
  if (i >= 2 && random.uniform() < 0.55) add(i - 2);
  if (i >= 4 && random.uniform() < 0.38) add(i - 3 - random.below(2));
  if (random.uniform() >= 0.62) return;
  const double product = random.low(1);  // first, so that the order of the factors is fixed
  const std::int64_t far = i - 4 - static_cast<std::int64_t>(product * static_cast<double>(i));
  if (far >= 0) add(far);
}

// The number of random numbers of a residue depends on their values: the proteins are drawn serially.
Result<formats::Csr> make_dd(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  ReplicaStream random(replica_seed(16, seed));
  Edges edges;
  for (std::int64_t base = 0; base < rows;) {
    const std::int64_t residues = std::min(rows - base, 120 + random.below(330));
    for (std::int64_t i = 1; i < residues; ++i) draw_contacts(random, base, i, edges);
    base += residues;
  }
  return csr_from_drawn_edges(edges, rows, progress);
}
}  // namespace

const Generator kDdLike = replica("dd-like", "Replica of DD: protein structures of 120 to 449 residues",
                                  "--rows 2000", kArguments, make_dd);

}  // namespace sptile::tools::gen
