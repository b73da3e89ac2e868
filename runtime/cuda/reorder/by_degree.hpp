// Vertices by ascending degree, and their division into rounds.
#pragma once

#include <algorithm>
#include <vector>

#include "formats/core/community_rules.hpp"
#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/reorder/graph.hpp"

namespace sptile::runtime::cuda::rabbit {

struct KeyByDegree {
  DeviceGraph graph;
  SortBuffers sort;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    sort.keys[v] = static_cast<std::uint64_t>(graph.offsets[v + 1] - graph.offsets[v]);
    sort.items[v] = static_cast<std::uint32_t>(v);
  }
};

struct WriteDegreeOrder {
  SortBuffers sort;
  std::int64_t vertices;
  std::int32_t* order;
  std::int64_t* degrees;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (i < vertices) order[i] = static_cast<std::int32_t>(sort.items[i]);
    degrees[i] = i < vertices ? static_cast<std::int64_t>(sort.keys[i]) : 0;
  }
};

/// Divides the order into rounds, by a single thread: each round ends at a search.
struct DivideRounds {
  const std::int64_t* degrees_before;
  std::int64_t vertices;
  communities::RoundLimits limits;
  std::int64_t* ends;
  std::int64_t* rounds;

  SPTILE_HOST_DEVICE void operator()(std::int64_t) const {
    std::int64_t round = 0;
    for (std::int64_t first = 0; first < vertices; ends[round++] = first) {
      const std::int64_t most = vertices - first < limits.vertices ? vertices - first : limits.vertices;
      first += lower_bound(degrees_before + first, most, degrees_before[first] + limits.edges + 1);
    }
    *rounds = round;
  }
};

struct DegreeOrderParts {
  std::int32_t* order = nullptr;

  void place(Arena& arena, std::int64_t vertices) { arena.take(order, vertices); }
};

struct DivisionParts {
  SortBuffers sort;
  std::int64_t *degrees = nullptr, *ends = nullptr, *rounds = nullptr;

  void place(Arena& arena, std::int64_t vertices, std::int64_t max_rounds) {
    sort.place(arena, vertices);
    arena.take(degrees, vertices + 1);
    arena.take(ends, max_rounds);
    arena.take(rounds, 1);
  }
};

/// Vertices by degree, then by id; round i ends before the vertex at ends[i].
struct DegreeOrder {
  Workspace<DegreeOrderParts> vertices;
  std::vector<std::int64_t> ends;
};

template <class Run>
Result<DegreeOrder> by_ascending_degree(Run& run, const DeviceGraph& graph) {
  const std::int64_t n = graph.vertices;
  const communities::RoundLimits limits = communities::round_limits(n, graph.links);
  // A round ends at one of the two limits or with the last vertex.
  const std::int64_t max_rounds = n / limits.vertices + graph.links / (limits.edges + 1) + 1;
  DegreeOrder made;
  if (Status s = made.vertices.make(run, n); !s) return tl::unexpected(s.error());
  Workspace<DivisionParts> work;
  if (Status s = work.make(run, n, max_rounds); !s) return tl::unexpected(s.error());
  run.each(n, KeyByDegree{graph, work.sort});
  run.sort(work.sort, n, 0, bits_for(std::min(n, graph.links)));
  run.each(n + 1, WriteDegreeOrder{work.sort, n, made.vertices.order, work.degrees});
  run.sum(work.degrees, n + 1);
  run.each(1, DivideRounds{work.degrees, n, limits, work.ends, work.rounds});
  std::int64_t rounds = 0;
  run.download(&rounds, work.rounds, 1);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  made.ends.resize(static_cast<std::size_t>(rounds));
  run.download(made.ends.data(), work.ends, rounds);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return made;
}

}  // namespace sptile::runtime::cuda::rabbit
