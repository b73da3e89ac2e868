// Associations of proteins: modules of 900 within species of 16,567, log-normal degrees.
#include <algorithm>
#include <cmath>

#include "tools/gen/drawn_rows.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr std::int64_t kModule = 900, kSpecies = 16567, kMaxDegree = 7750;
constexpr double kInModule = 0.72, kInSpecies = 0.92;  // cumulative fractions of the edges
constexpr double kDraws = 1.35;                        // draws per entry: repeated columns are merged

constexpr ArgumentSpec kArguments[] = {replica_rows(132534)};

std::int64_t draw_degree(std::int64_t r) {
  const double normal = vertex_stream(r, 31, 3).normal(1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::exp(6.092 + 0.85 * normal)), 1, kMaxDegree);
}

std::int64_t draw_column(ReplicaStream& random, std::int64_t r, std::int64_t rows) {
  const double where = random.uniform();
  if (where < kInModule) return r / kModule * kModule + static_cast<std::int64_t>(kModule * random.uniform());
  if (where < kInSpecies) return r / kSpecies * kSpecies + static_cast<std::int64_t>(random.low(kSpecies));
  return static_cast<std::int64_t>(static_cast<double>(rows) * random.uniform());
}

Result<formats::Csr> make_protein(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  const auto draw = [=](std::int64_t r, DrawnColumns& columns) {
    ReplicaStream random = row_stream(replica_seed(12, seed), r);
    const double draws = static_cast<double>(draw_degree(r)) * kDraws;
    for (std::int64_t i = 0; static_cast<double>(i) < draws; ++i)
      if (const std::int64_t c = draw_column(random, r, rows); c < rows)
        columns.push_back(static_cast<std::int32_t>(c));
  };
  return csr_by_drawn_rows(rows, rows, draw, progress);
}
}  // namespace

const Generator kProteinLike =
    replica("protein-like", "Replica of ogbn-proteins: dense modules of 900 vertices", "--rows 1000",
            kArguments, make_protein);

}  // namespace sptile::tools::gen
