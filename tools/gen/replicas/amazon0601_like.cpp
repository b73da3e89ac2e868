// Joint purchases: up to ten links per product, to near products and to popular ones.
#include <cmath>

#include "tools/gen/drawn_rows.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {replica_rows(403394)};

// Returns a product, or a number outside 0..rows-1.
std::int64_t draw_column(ReplicaStream& random, std::int64_t r, std::int64_t rows) {
  if (random.uniform() < 0.62) {
    const double logarithm = -600 * std::log(random.uniform() + 1e-12);
    const std::int64_t distance = 1 + static_cast<std::int64_t>(logarithm * random.uniform());
    return random.uniform() < 0.5 ? r - distance : r + distance;
  }
  const auto rank = static_cast<std::int64_t>(static_cast<double>(rows) * std::pow(random.uniform(), 2.2));
  return vertex_stream(rank, 1, 0).below(rows);
}

Result<formats::Csr> make_amazon(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  const auto draw = [=](std::int64_t r, DrawnColumns& columns) {
    ReplicaStream random = row_stream(replica_seed(17, seed), r);
    const std::int64_t links = random.uniform() < 0.70 ? 10 : 1 + random.below(9);
    const double draws = static_cast<double>(links) * 0.91;
    for (std::int64_t i = 0; static_cast<double>(i) < draws + random.uniform() * 0.3; ++i)
      if (const std::int64_t c = draw_column(random, r, rows); c >= 0 && c < rows)
        columns.push_back(static_cast<std::int32_t>(c));
  };
  return csr_by_drawn_rows(rows, rows, draw, progress);
}
}  // namespace

const Generator kAmazonLike =
    replica("amazon0601-like", "Replica of amazon0601: near products and popular ones", "--rows 2000",
            kArguments, make_amazon);

}  // namespace sptile::tools::gen
