#include "reorder/partition/k_way.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>

#include "formats/io/available_memory.hpp"
#include "reorder/metis_call.hpp"

namespace sptile::reorder {
namespace {

// METIS adds weights up in its integers, and multiplies the sum by small factors.
constexpr std::int64_t kMostWeight = std::numeric_limits<std::int32_t>::max() / 8;

std::vector<idx_t> metis_weights(const formats::CsrView& a, const MetisGraph& graph) {
  const std::int64_t unit = (a.nnz() + a.rows) / kMostWeight + 1;
  std::vector<idx_t> weights;
  weights.reserve(graph.vertex.size());
  for (const std::int32_t row : graph.vertex)
    weights.push_back(static_cast<idx_t>(std::max<std::int64_t>(1, row_weight(a, row) / unit)));
  return weights;
}

// Gives each row that METIS has not seen to the part that is lightest then.
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

Status cut(MetisGraph& graph, std::int32_t parts, std::uint64_t seed, std::vector<idx_t>& part) {
  idx_t vertices = graph.size(), constraints = 1, count = parts, volume = 0;
  MetisOptions how(seed);
  how.values[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
  const std::lock_guard lock(metis_lock());
  return metis_outcome(METIS_PartGraphKway(&vertices, &constraints, graph.offsets.data(),
                                           graph.neighbours.data(), graph.weights.data(), nullptr, nullptr,
                                           &count, nullptr, nullptr, how.values, &volume, part.data()));
}

}  // namespace

std::int64_t k_way_memory(std::int64_t rows, std::int64_t nnz) {
  constexpr std::int64_t kPerEntry = 40, kPerRow = 120;
  return kPerEntry * nnz + kPerRow * rows;
}

Result<std::vector<std::int32_t>> k_way_parts(const formats::CsrView& a, std::int32_t parts,
                                              const PartitionOptions& options) {
  if (Status s = formats::check_memory("metis: its graphs of these entries", k_way_memory(a.rows, a.nnz()),
                                       formats::available_memory());
      !s)
    return fail(s.error().code, s.error().message + "; --method rows needs next to nothing");
  begin(options.progress, "metis", 0);  // it cannot be watched
  std::vector<std::int32_t> result(static_cast<std::size_t>(a.rows), -1);
  MetisGraph metis;
  {
    const auto graph = graph_of(a);
    if (!graph) return tl::unexpected(graph.error());
    if (Status s = check_metis_fits(*graph, "--method rows"); !s) return tl::unexpected(std::move(s.error()));
    metis = metis_graph(*graph);
  }
  if (parts > 1 && metis.size() > parts) {
    metis.weights = metis_weights(a, metis);
    std::vector<idx_t> part(metis.vertex.size(), 0);
    if (Status s = cut(metis, parts, options.seed, part); !s) return tl::unexpected(std::move(s.error()));
    for (std::size_t i = 0; i < part.size(); ++i)
      result[static_cast<std::size_t>(metis.vertex[i])] = static_cast<std::int32_t>(part[i]);
  }
  fill_up(a, result, parts);
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  return result;
}

}  // namespace sptile::reorder
