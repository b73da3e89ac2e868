#include "reorder/methods/metis.hpp"

#include <algorithm>
#include <numeric>

#include "reorder/graph/metis_call.hpp"

namespace sptile::reorder {

Result<MetisParts> metis_parts(const Graph& graph, std::int64_t rows, std::int64_t part_rows,
                               std::uint64_t seed) {
  if (Status s = check_metis_fits(graph, "rabbit"); !s) return tl::unexpected(std::move(s.error()));
  MetisGraph metis = metis_graph(graph);
  const auto is_row = [&](std::int32_t v) { return v < rows; };
  const std::int64_t connected_rows = std::ranges::count_if(metis.vertex, is_row);
  MetisParts result{std::vector<std::int32_t>(static_cast<std::size_t>(graph.vertices), -1), 1, 0};
  std::vector<idx_t> part(metis.vertex.size(), 0);
  result.parts =
      static_cast<std::int32_t>(std::max<std::int64_t>(1, (connected_rows + part_rows - 1) / part_rows));
  if (result.parts > 1) {
    if (rows < graph.vertices)
      for (const std::int32_t v : metis.vertex) metis.weights.push_back(is_row(v) ? 1 : 0);
    idx_t vertices = metis.size(), constraints = 1, parts = result.parts, cut = 0;
    MetisOptions options(seed);
    const std::lock_guard lock(metis_lock());
    Status done = metis_outcome(
        METIS_PartGraphKway(&vertices, &constraints, metis.offsets.data(), metis.neighbours.data(),
                            metis.weights.empty() ? nullptr : metis.weights.data(), nullptr, nullptr, &parts,
                            nullptr, nullptr, options.values, &cut, part.data()));
    if (!done) return tl::unexpected(std::move(done.error()));
    result.edge_cut = cut;
  }
  for (std::size_t i = 0; i < part.size(); ++i)
    result.part[static_cast<std::size_t>(metis.vertex[i])] = static_cast<std::int32_t>(part[i]);
  return result;
}

Result<std::vector<std::int32_t>> order_by_metis(const formats::CsrView& a, const ReorderOptions& options) {
  const auto graph = graph_of(a);
  if (!graph) return tl::unexpected(graph.error());
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  begin(options.progress, "metis", 0);  // METIS reports no progress
  const auto part_rows = static_cast<std::int64_t>(setting(options, kMetisParameters, "part-rows"));
  auto cut = metis_parts(*graph, a.rows, part_rows, options.seed);
  if (!cut) return tl::unexpected(std::move(cut.error()));
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  std::vector<std::int32_t> vertices;
  for (std::int32_t r = 0; r < a.rows; ++r)
    if (cut->part[static_cast<std::size_t>(r)] >= 0) vertices.push_back(r);
  std::ranges::stable_sort(vertices, {},
                           [&](std::int32_t v) { return cut->part[static_cast<std::size_t>(v)]; });
  return rows_in_order(a, *graph, vertices);
}

Result<std::vector<std::int32_t>> order_by_dissection(const formats::CsrView& a,
                                                      const ReorderOptions& options) {
  const auto graph = graph_of(a);
  if (!graph) return tl::unexpected(graph.error());
  if (Status s = check_metis_fits(*graph, "rabbit"); !s) return tl::unexpected(std::move(s.error()));
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  begin(options.progress, "metis", 0);
  MetisGraph metis = metis_graph(*graph);
  std::vector<idx_t> new_to_old(metis.vertex.size()), old_to_new(metis.vertex.size());
  if (idx_t vertices = metis.size(); vertices > 0) {
    MetisOptions how(options.seed);
    const std::lock_guard lock(metis_lock());
    Status done = metis_outcome(METIS_NodeND(&vertices, metis.offsets.data(), metis.neighbours.data(),
                                             nullptr, how.values, new_to_old.data(), old_to_new.data()));
    if (!done) return tl::unexpected(std::move(done.error()));
  }
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  std::vector<std::int32_t> vertices(metis.vertex.size());
  std::ranges::transform(new_to_old, vertices.begin(),
                         [&](idx_t v) { return metis.vertex[static_cast<std::size_t>(v)]; });
  return rows_in_order(a, *graph, vertices);
}

}  // namespace sptile::reorder
