// Citations: hidden communities of vertices with equal remainders, popular vertices, and self-loops.
#include <algorithm>
#include <cmath>

#include "tools/gen/drawn_rows.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr std::int64_t kCommunities = 2983, kMembers = 334, kMaxDegree = 4000;

constexpr ArgumentSpec kArguments[] = {replica_rows(1000000)};

// Returns a vertex, possibly rows or above.
std::int64_t draw_column(ReplicaStream& random, std::int64_t r, std::int64_t rows) {
  if (random.uniform() < 0.5)
    return r % kCommunities + kCommunities * static_cast<std::int64_t>(kMembers * random.uniform());
  const auto rank = static_cast<std::int64_t>(static_cast<double>(rows) * std::pow(random.uniform(), 1.8));
  return vertex_stream(rank, 3, 0).below(rows);
}

Result<formats::Csr> make_igb(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  const auto draw = [=](std::int64_t r, DrawnColumns& columns) {
    ReplicaStream random = row_stream(replica_seed(24, seed), r);
    const double degree = std::exp(2.115 + 0.88 * random.normal(1)) + 0.5;
    const std::int64_t draws = std::clamp<std::int64_t>(static_cast<std::int64_t>(degree), 1, kMaxDegree);
    for (std::int64_t i = 0; i < draws; ++i)
      if (const std::int64_t c = draw_column(random, r, rows); c < rows)
        columns.push_back(static_cast<std::int32_t>(c));
    columns.push_back(static_cast<std::int32_t>(r));
  };
  return csr_by_drawn_rows(rows, rows, draw, progress);
}
}  // namespace

const Generator kIgbSmallLike =
    replica("igb-small-like", "Replica of IGB small: hidden communities and popular vertices", "--rows 3000",
            kArguments, make_igb);

}  // namespace sptile::tools::gen
