#include "runtime/cuda/papers/bulk/partition.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace sptile::runtime::cuda {
namespace {

/// Returns the position, or the edge of its window if that is nearer than an eighth of the columns (Algorithm
/// 1, lines 4 to 10).
std::int64_t snap(std::int64_t position, int segments) {
  const std::int64_t column = position % segments;
  if (8 * column < segments) return position - column;
  if (8 * column > 7 * segments) return position + segments - column;
  return position;
}

/// Returns the first position after `from` with more than that cost between them, or the end.
std::int64_t advance(const BulkCostModel& model, std::int64_t from, double cost) {
  std::int64_t low = from, high = model.end();  // the position is in (low, high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (model.between(from, middle) > cost ? high : low) = middle;
  }
  return high;
}

/// Algorithm 1 for shares of that cost instead of the average.
BulkCuts divide_at(const BulkCostModel& model, std::int64_t count, double cost) {
  BulkCuts cuts{0};
  for (std::int64_t i = 1; i < count; ++i) {
    const std::int64_t position = advance(model, cuts.back(), cost);
    const std::int64_t snapped = snap(position, model.segments());
    cuts.push_back(snapped > cuts.back() ? snapped : position);
  }
  cuts.push_back(model.end());
  return cuts;
}

constexpr std::size_t kPopulation = 16, kChildren = 64;
constexpr std::uint64_t kSeed = 1;

/// Draws whose results are the same everywhere, as those of the distributions in <random> are not.
class Draws {
 public:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(bound));
  }

 private:
  std::mt19937_64 engine_{kSeed};
};

struct Individual {
  BulkCuts cuts;
  double objective;
};

/// Draws two individuals and returns the better one.
const Individual& tournament(const std::vector<Individual>& population, Draws& random) {
  const auto draw = [&]() -> const Individual& {
    return population[static_cast<std::size_t>(random.below(std::ssize(population)))];
  };
  const Individual &a = draw(), &b = draw();
  return b.objective < a.objective ? b : a;
}

/// Returns the cuts of one parent up to a random one, then those of the other.
BulkCuts cross(const BulkCuts& a, const BulkCuts& b, Draws& random) {
  const std::int64_t first_of_b = 1 + random.below(std::ssize(b) - 1);
  BulkCuts child(a.begin(), a.begin() + first_of_b);
  for (auto cut = b.begin() + first_of_b; cut != b.end(); ++cut)
    child.push_back(std::max(*cut, child.back()));
  return child;
}

/// Moves about two inner cuts by one segment, or to the nearest edge, between their neighbours.
void mutate(BulkCuts& cuts, int segments, Draws& random) {
  for (std::size_t i = 1; i + 1 < cuts.size(); ++i) {
    if (random.below(std::ssize(cuts)) >= 2) continue;
    const std::int64_t edge = (cuts[i] + segments / 2) / segments * segments;
    const std::int64_t moves[] = {cuts[i] - 1, cuts[i] + 1, edge};
    cuts[i] = std::clamp(moves[random.below(std::ssize(moves))], cuts[i - 1], cuts[i + 1]);
  }
}

}  // namespace

double BulkCostModel::before(std::int64_t position) const {
  const std::int64_t window = position / segments_, segment = position % segments_;
  const double cost = before_window(window);
  if (segment == 0) return cost;
  return cost +
         (before_window(window + 1) - cost) * static_cast<double>(segment) / static_cast<double>(segments_);
}

BulkCuts divide_by_targets(const BulkCostModel& model, std::int64_t count) {
  const std::int64_t segments = model.segments();
  const double share = model.before(model.end()) / static_cast<double>(count);
  BulkCuts cuts{0};
  for (std::int64_t i = 1; i < count; ++i) {
    const double target = share * static_cast<double>(i);
    std::int64_t low = 0, high = model.end() / segments;  // the window is in [low, high)
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (model.before(middle * segments) <= target ? low : high) = middle;
    }
    const std::int64_t first = low * segments;
    const double inside = (target - model.before(first)) / model.between(first, first + segments);
    const std::int64_t segment = std::llround(std::clamp(inside, 0.0, 1.0) * static_cast<double>(segments));
    cuts.push_back(std::max(snap(first + segment, model.segments()), cuts.back()));
  }
  cuts.push_back(model.end());
  return cuts;
}

BulkCuts divide_by_windows(const BulkCostModel& model, std::int64_t /*count*/) {
  BulkCuts cuts;
  for (std::int64_t cut = 0; cut <= model.end(); cut += model.segments()) cuts.push_back(cut);
  return cuts;
}

BulkCuts divide_by_window_counts(const BulkCostModel& model, std::int64_t count) {
  const std::int64_t windows = model.end() / model.segments();
  BulkCuts cuts;
  for (std::int64_t i = 0; i <= count; ++i) cuts.push_back(windows * i / count * model.segments());
  return cuts;
}

BulkCuts divide_greedily(const BulkCostModel& model, std::int64_t count) {
  return divide_at(model, count, model.before(model.end()) / static_cast<double>(count));
}

BulkCuts divide_genetically(const BulkCostModel& model, std::int64_t count) {
  constexpr double kStep = 1.0 / 256;
  const auto individual = [&](BulkCuts cuts) {
    const double objective = bulk_objective(model, cuts);
    return Individual{std::move(cuts), objective};
  };
  const double average = model.before(model.end()) / static_cast<double>(count);
  std::vector<Individual> population;
  for (std::size_t p = 0; p < kPopulation; ++p)
    population.push_back(individual(divide_at(model, count, average * (1 - kStep * static_cast<double>(p)))));
  std::vector<Individual> children;
  Draws random;
  for (std::size_t c = 0; c < kChildren; ++c) {
    const Individual& first = tournament(population, random);
    const Individual& second = tournament(population, random);
    BulkCuts cuts = cross(first.cuts, second.cuts, random);
    mutate(cuts, model.segments(), random);
    children.push_back(individual(std::move(cuts)));
  }
  population.insert(population.end(), children.begin(), children.end());
  return std::min_element(population.begin(), population.end(),
                          [](const Individual& a, const Individual& b) { return a.objective < b.objective; })
      ->cuts;
}

std::vector<double> bulk_share_costs(const BulkCostModel& model, const BulkCuts& cuts) {
  const double fixed = model.costs().fixed / static_cast<double>(cuts.size() - 1);
  std::vector<double> costs;
  for (std::size_t i = 1; i < cuts.size(); ++i) costs.push_back(model.between(cuts[i - 1], cuts[i]) + fixed);
  return costs;
}

double bulk_penalty(const BulkCostModel& model, const BulkCuts& cuts) {
  std::int64_t loaded_again = 0;
  for (std::size_t i = 1; i + 1 < cuts.size(); ++i)
    if (cuts[i] % model.segments() != 0 && cuts[i] != cuts[i - 1])
      loaded_again += model.tiles(cuts[i] / model.segments());
  const auto shares = static_cast<double>(cuts.size() - 1);
  return model.costs().reload * model.costs().tile * static_cast<double>(loaded_again) /
         (shares * model.total());
}

double bulk_objective(const BulkCostModel& model, const BulkCuts& cuts) {
  const std::vector<double> costs = bulk_share_costs(model, cuts);
  return *std::max_element(costs.begin(), costs.end()) / model.total() + bulk_penalty(model, cuts);
}

}  // namespace sptile::runtime::cuda
