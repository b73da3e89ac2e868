#include "reorder/partition/k_way.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "formats/io/files/available_memory.hpp"
#include "reorder/graph/metis_call.hpp"
#include "reorder/partition/largest_send.hpp"

namespace sptile::reorder {
namespace {

// METIS adds weights in its integers and multiplies the sum by small factors.
constexpr std::int64_t kMaxWeight = std::numeric_limits<std::int32_t>::max() / 8;

std::vector<idx_t> metis_weights(const formats::CsrView& a, const MetisGraph& graph) {
  const std::int64_t unit = (a.nnz() + a.rows) / kMaxWeight + 1;
  std::vector<idx_t> weights;
  weights.reserve(graph.vertex.size());
  for (const std::int32_t row : graph.vertex)
    weights.push_back(static_cast<idx_t>(std::max<std::int64_t>(1, row_weight(a, row) / unit)));
  return weights;
}

// Assigns each row without a part to the lightest part.
void fill_up(const formats::CsrView& a, std::vector<std::int32_t>& part, std::int32_t parts) {
  std::vector<std::int64_t> weight(static_cast<std::size_t>(parts), 0);
  for (std::size_t row = 0; row < part.size(); ++row)
    if (part[row] >= 0)
      weight[static_cast<std::size_t>(part[row])] += row_weight(a, static_cast<std::int64_t>(row));
  using Load = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> lightest;
  for (std::int32_t p = 0; p < parts; ++p) lightest.emplace(weight[static_cast<std::size_t>(p)], p);
  for (std::size_t row = 0; row < part.size(); ++row) {
    if (part[row] >= 0) continue;
    const auto [load, p] = lightest.top();
    lightest.pop();
    part[row] = p;
    lightest.emplace(load + row_weight(a, static_cast<std::int64_t>(row)), p);
  }
}

// Objectives of METIS. Neither is always better: the volume is the amount exchanged, but its refinement
// considers single rows and splits communities that the edge cut keeps together.
constexpr mobjtype_et kObjectives[] = {METIS_OBJTYPE_CUT, METIS_OBJTYPE_VOL};

Status cut(MetisGraph& graph, std::int32_t parts, mobjtype_et objective, std::uint64_t seed,
           std::vector<idx_t>& part) {
  idx_t vertices = graph.size(), constraints = 1, count = parts, objective_value = 0;
  MetisOptions how(seed);
  how.values[METIS_OPTION_OBJTYPE] = objective;
  const std::lock_guard lock(metis_lock());
  return metis_outcome(METIS_PartGraphKway(
      &vertices, &constraints, graph.offsets.data(), graph.neighbours.data(), graph.weights.data(), nullptr,
      nullptr, &count, nullptr, nullptr, how.values, &objective_value, part.data()));
}

struct Candidate {
  std::vector<std::int32_t> part;
  SentRows sent;

  // Compares the maximum number of rows sent by a part, then the total.
  [[nodiscard]] bool better_than(const Candidate& other) const {
    const auto key = [](const Candidate& c) {
      return std::tuple(c.sent.too_heavy, c.sent.largest, c.sent.total);
    };
    return other.part.empty() || key(*this) < key(other);
  }
};

Result<Candidate> try_objective(const formats::CsrView& a, MetisGraph& metis, std::int32_t parts,
                                mobjtype_et objective, std::uint64_t seed) {
  Candidate candidate{std::vector<std::int32_t>(static_cast<std::size_t>(a.rows), -1), {}};
  if (parts > 1 && metis.size() > parts) {
    std::vector<idx_t> part(metis.vertex.size(), 0);
    if (Status s = cut(metis, parts, objective, seed, part); !s) return tl::unexpected(std::move(s.error()));
    for (std::size_t i = 0; i < part.size(); ++i)
      candidate.part[static_cast<std::size_t>(metis.vertex[i])] = static_cast<std::int32_t>(part[i]);
  }
  fill_up(a, candidate.part, parts);
  candidate.sent = bound_largest_send(a, parts, candidate.part);
  return candidate;
}

Status check_memory_for(std::int64_t rows, std::int64_t neighbours) {
  Status s =
      formats::check_memory("metis: the graphs", k_way_memory(rows, neighbours), formats::available_memory());
  if (!s) s.error().message += "; --method rows needs little memory";
  return s;
}

}  // namespace

std::int64_t k_way_memory(std::int64_t rows, std::int64_t neighbours) {
  constexpr std::int64_t kPerNeighbour = 72, kPerRow = 120;
  return kPerNeighbour * neighbours + kPerRow * rows;
}

Result<std::vector<std::int32_t>> k_way_parts(const formats::CsrView& a, std::int32_t parts,
                                              const PartitionOptions& options) {
  // Lower bound of the graph's size: one neighbor per off-diagonal nonzero.
  if (Status s = check_memory_for(a.rows, std::max<std::int64_t>(0, a.nnz() - a.rows)); !s)
    return tl::unexpected(std::move(s.error()));
  begin(options.progress, "metis", 0);  // METIS reports no progress
  MetisGraph metis;
  {
    const auto graph = graph_of(a);
    if (!graph) return tl::unexpected(graph.error());
    Status s = check_metis_fits(*graph, "--method rows");
    if (s) s = check_memory_for(a.rows, graph->neighbours.size());
    if (!s) return tl::unexpected(std::move(s.error()));
    metis = metis_graph(*graph);
  }
  metis.weights = metis_weights(a, metis);
  Candidate best;
  for (const mobjtype_et objective : kObjectives) {
    if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
    auto candidate = try_objective(a, metis, parts, objective, options.seed);
    if (!candidate) return tl::unexpected(std::move(candidate.error()));
    if (candidate->better_than(best)) best = std::move(*candidate);
  }
  return std::move(best.part);
}

}  // namespace sptile::reorder
