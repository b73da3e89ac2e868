#include "reorder/metis.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>

#include "formats/random.hpp"

namespace sptile::reorder {
namespace {

// METIS draws its random numbers from the C library and traps signals, both for the whole process.
std::mutex one_at_a_time;

// The vertices with neighbours, in METIS's own integers: it takes no constant arrays.
struct MetisGraph {
  std::vector<std::int32_t> vertex;  // of the graph, by METIS's number
  std::vector<idx_t> offsets, neighbours, weights;

  [[nodiscard]] idx_t size() const { return static_cast<idx_t>(vertex.size()); }
};

Status check_fits(const Graph& graph) {
  constexpr auto kMost = std::numeric_limits<idx_t>::max();
  if (graph.neighbours.size() <= kMost && graph.vertices <= kMost) return {};
  return fail(Errc::unsupported, "METIS counts neighbours in " + std::to_string(8 * sizeof(idx_t)) +
                                     "-bit integers, up to " + std::to_string(kMost) + "; this graph has " +
                                     std::to_string(graph.neighbours.size()) +
                                     "; use rabbit, which has no such limit");
}

MetisGraph metis_graph(const Graph& graph) {
  MetisGraph result;
  std::vector<idx_t> number(static_cast<std::size_t>(graph.vertices));
  for (std::int64_t v = 0; v < graph.vertices; ++v) {
    if (graph.degree(v) == 0) continue;
    number[static_cast<std::size_t>(v)] = result.size();
    result.vertex.push_back(static_cast<std::int32_t>(v));
  }
  result.offsets.assign(1, 0);
  result.offsets.reserve(result.vertex.size() + 1);
  result.neighbours.reserve(static_cast<std::size_t>(graph.neighbours.size()));
  for (const std::int32_t v : result.vertex) {
    for (const std::int32_t u : graph.of(v)) result.neighbours.push_back(number[static_cast<std::size_t>(u)]);
    result.offsets.push_back(static_cast<idx_t>(result.neighbours.size()));
  }
  return result;
}

struct MetisOptions {
  idx_t values[METIS_NOPTIONS];

  explicit MetisOptions(std::uint64_t seed) {
    METIS_SetDefaultOptions(values);
    values[METIS_OPTION_SEED] = static_cast<idx_t>(mix_bits(seed) & 0x7fffffffu);
  }
};

Status outcome(int code) {
  if (code == METIS_OK) return {};
  if (code == METIS_ERROR_MEMORY)
    return fail(Errc::io, "METIS ran out of memory; rabbit and degree need less");
  return fail(Errc::io, "METIS was interrupted or failed, code " + std::to_string(code));
}

}  // namespace

Result<MetisParts> metis_parts(const Graph& graph, std::int64_t rows, std::int64_t part_rows,
                               std::uint64_t seed) {
  if (Status s = check_fits(graph); !s) return tl::unexpected(std::move(s.error()));
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
    const std::lock_guard lock(one_at_a_time);
    Status done =
        outcome(METIS_PartGraphKway(&vertices, &constraints, metis.offsets.data(), metis.neighbours.data(),
                                    metis.weights.empty() ? nullptr : metis.weights.data(), nullptr, nullptr,
                                    &parts, nullptr, nullptr, options.values, &cut, part.data()));
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
  begin(options.progress, "metis", 0);  // it cannot be watched
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
  if (Status s = check_fits(*graph); !s) return tl::unexpected(std::move(s.error()));
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  begin(options.progress, "metis", 0);
  MetisGraph metis = metis_graph(*graph);
  std::vector<idx_t> new_to_old(metis.vertex.size()), old_to_new(metis.vertex.size());
  if (idx_t vertices = metis.size(); vertices > 0) {
    MetisOptions how(options.seed);
    const std::lock_guard lock(one_at_a_time);
    Status done = outcome(METIS_NodeND(&vertices, metis.offsets.data(), metis.neighbours.data(), nullptr,
                                       how.values, new_to_old.data(), old_to_new.data()));
    if (!done) return tl::unexpected(std::move(done.error()));
  }
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  std::vector<std::int32_t> vertices(metis.vertex.size());
  std::ranges::transform(new_to_old, vertices.begin(),
                         [&](idx_t v) { return metis.vertex[static_cast<std::size_t>(v)]; });
  return rows_in_order(a, *graph, vertices);
}

}  // namespace sptile::reorder
