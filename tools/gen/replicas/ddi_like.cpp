// Interactions of drugs: every pair of vertices with a probability given by two weights.
#include <cmath>

#include "tools/gen/drawn_rows.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {replica_rows(4267, 100000)};  // O(rows^2) random numbers

std::vector<double> draw_weights(std::int64_t rows) {
  std::vector<double> weights;
  for (std::int64_t r = 0; r < rows; ++r)
    weights.push_back(std::pow(vertex_stream(r, 13, 1).uniform(), 0.9) * 0.50 + 0.01);
  return weights;
}

Result<formats::Csr> make_ddi(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  const std::vector<double> weights = draw_weights(rows);
  const auto draw = [&](std::int64_t r, DrawnColumns& columns) {
    ReplicaStream random = row_stream(replica_seed(13, seed), r);
    const double own = weights[static_cast<std::size_t>(r)];
    for (std::int64_t c = 0; c < rows; ++c)
      if (random.uniform() < own * weights[static_cast<std::size_t>(c)] * 1.573)
        columns.push_back(static_cast<std::int32_t>(c));
  };
  return csr_by_drawn_rows(rows, rows, draw, progress);
}
}  // namespace

const Generator kDdiLike =
    replica("ddi-like", "Replica of ogbl-ddi: dense, weighted at random", "--rows 300", kArguments, make_ddi);

}  // namespace sptile::tools::gen
