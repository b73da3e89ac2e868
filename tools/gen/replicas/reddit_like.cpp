// Posts with common commenters: 50 communities, log-normal degrees with a mean near 500.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tools/gen/drawn_rows.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr std::int64_t kMaxDegree = 21657;
constexpr double kWithin = 0.78;  // fraction of the edges within a community

constexpr ArgumentSpec kArguments[] = {replica_rows(232965)};

// Contiguous communities of positions 0..n-1. Community c has a size proportional to 1 / sqrt(1 + c).
class Communities {
 public:
  explicit Communities(std::int64_t n) : community_(static_cast<std::size_t>(n)) {
    std::array<double, kCount> weights;
    for (std::size_t c = 0; c < kCount; ++c) weights[c] = 1 / std::sqrt(1.0 + static_cast<double>(c));
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double before = 0;
    for (std::size_t c = 0; c < kCount; ++c) {
      first_[c] = static_cast<std::int64_t>(static_cast<double>(n) * before / total);
      before += weights[c];
    }
    first_[kCount] = n;
    for (std::size_t c = 0; c < kCount; ++c)
      std::fill(community_.begin() + first_[c], community_.begin() + first_[c + 1],
                static_cast<std::uint8_t>(c));
  }

  // Returns the position at fraction u^2.5 of the community of a position: low positions are popular.
  [[nodiscard]] std::int64_t popular(std::int64_t position, double u) const {
    const std::size_t c = community_[static_cast<std::size_t>(position)];
    const auto length = static_cast<double>(first_[c + 1] - first_[c]);
    return first_[c] + static_cast<std::int64_t>(length * u * u * std::sqrt(u));
  }

 private:
  static constexpr std::size_t kCount = 50;
  std::array<std::int64_t, kCount + 1> first_{};
  std::vector<std::uint8_t> community_;
};

std::int64_t draw_degree(std::int64_t position) {
  const double normal = vertex_stream(position, 77, 5).normal(1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::exp(5.67 + 1.25 * normal)), 1, kMaxDegree);
}

// Builds the graph in which vertex label[p] is at position p of the communities.
formats::Csr make_graph(const std::vector<std::int32_t>& label, std::uint64_t seed, Progress* progress) {
  const auto rows = static_cast<std::int64_t>(label.size());
  const Communities communities(rows);
  std::vector<std::int32_t> position(label.size());
  for (std::size_t p = 0; p < label.size(); ++p)
    position[static_cast<std::size_t>(label[p])] = static_cast<std::int32_t>(p);
  const auto draw = [&](std::int64_t r, DrawnColumns& columns) {
    ReplicaStream random = row_stream(seed, r);
    const std::int64_t own = position[static_cast<std::size_t>(r)], degree = draw_degree(own);
    for (std::int64_t i = 0; i < degree; ++i) {
      const double u = random.uniform();
      const bool within = random.uniform() < kWithin;
      const std::int64_t near =
          within ? own : static_cast<std::int64_t>(static_cast<double>(rows) * random.uniform());
      columns.push_back(label[static_cast<std::size_t>(std::min(communities.popular(near, u), rows - 1))]);
    }
  };
  return csr_by_drawn_rows(rows, rows, draw, progress);
}

Result<formats::Csr> make_shuffled(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  return make_graph(replica_permutation(rows, replica_seed(7, seed)), replica_seed(11, seed), progress);
}

Result<formats::Csr> make_ordered(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  std::vector<std::int32_t> identity(static_cast<std::size_t>(integer_argument(arguments, "rows")));
  std::iota(identity.begin(), identity.end(), 0);
  return make_graph(identity, replica_seed(11, seed), progress);
}
}  // namespace

const Generator kRedditLike =
    replica("reddit-like", "Replica of Reddit: communities and log-normal degrees in random order",
            "--rows 2000", kArguments, make_shuffled);
const Generator kRedditLikeOrdered =
    replica("reddit-like-ordered", "reddit-like in the order of its communities", "--rows 2000", kArguments,
            make_ordered);

}  // namespace sptile::tools::gen
