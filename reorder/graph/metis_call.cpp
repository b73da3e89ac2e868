#include "reorder/graph/metis_call.hpp"

#include <pthread.h>

#include <limits>
#include <new>
#include <string>

#include "formats/core/random.hpp"

namespace sptile::reorder {

namespace {

// In a forked process the mutex is constructed again, because a thread that exists only in the parent may
// have locked it.
std::mutex one_at_a_time;
[[maybe_unused]] const int kMadeAnew =
    ::pthread_atfork(nullptr, nullptr, [] { new (&one_at_a_time) std::mutex; });

}  // namespace

std::mutex& metis_lock() { return one_at_a_time; }

Status check_metis_fits(const Graph& graph, std::string_view instead) {
  constexpr auto kMax = std::numeric_limits<idx_t>::max();
  if (graph.neighbours.size() <= kMax && graph.vertices <= kMax) return {};
  return fail(Errc::unsupported, "METIS stores neighbour counts in " + std::to_string(8 * sizeof(idx_t)) +
                                     "-bit integers, at most " + std::to_string(kMax) + "; this graph has " +
                                     std::to_string(graph.neighbours.size()) + "; use " +
                                     std::string(instead) + ", which has no such limit");
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

MetisOptions::MetisOptions(std::uint64_t seed) {
  METIS_SetDefaultOptions(values);
  values[METIS_OPTION_SEED] = static_cast<idx_t>(mix_bits(seed) & 0x7fffffffu);
}

Status metis_outcome(int code) {
  if (code == METIS_OK) return {};
  if (code == METIS_ERROR_MEMORY)
    return fail(Errc::io, "METIS ran out of memory; rabbit and degree need less");
  return fail(Errc::io, "METIS was interrupted or failed, code " + std::to_string(code));
}

}  // namespace sptile::reorder
