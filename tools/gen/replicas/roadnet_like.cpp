// Roads: a grid of width 1404 without 30 % of its edges.
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr std::int64_t kWidth = 1404;
constexpr double kKept = 0.70;

constexpr ArgumentSpec kArguments[] = {replica_rows(1971281)};

Result<formats::Csr> make_roads(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  ReplicaStream random(replica_seed(19, seed));
  Edges edges;
  for (std::int64_t i = 0; i < rows; ++i) {
    const bool has_right = i % kWidth + 1 < kWidth && i + 1 < rows;
    if (has_right && random.uniform() < kKept) edges.emplace_back(i, i + 1);
    if (i + kWidth < rows && random.uniform() < kKept) edges.emplace_back(i, i + kWidth);
  }
  return csr_from_drawn_edges(edges, rows, progress);
}
}  // namespace

const Generator kRoadnetLike = replica("roadnet-like", "Replica of roadNet-CA: grid with deleted edges",
                                       "--rows 3000", kArguments, make_roads);

}  // namespace sptile::tools::gen
