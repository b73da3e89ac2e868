// Data of the vertices and communities of a graph while communities merge.
#pragma once

#include "runtime/cuda/convert/csr_rows.hpp"
#include "runtime/cuda/convert/format_memory.hpp"
#include "runtime/cuda/reorder/graph.hpp"

namespace sptile::runtime::cuda::rabbit {

/// Weighted edge to a community. All bits of an unused one are set, so that weights count from -1.
struct WeightedLink {
  std::int32_t to;
  std::uint32_t weight;
};
inline constexpr std::int32_t kNone = -1;

/// Data that the neighbors of a vertex read.
struct Node {
  std::int32_t toward_root;  ///< the vertex itself for the root of a community
  std::uint32_t strength;    ///< for a root: sum of the degrees in its community
};

enum class State : std::uint8_t {
  idle,      // did not choose a community in this round
  proposes,  // chose one
  blocked,   // chose one, but must wait for a vertex that chose it
};

/// Vertices and their communities. Children that a root accepted in one round form a group.
struct Vertices {
  Node* nodes = nullptr;
  std::int64_t* list = nullptr;       ///< start of the stored links
  std::int32_t* list_size = nullptr;  ///< their number; kNone: never summed, use the neighbors in the graph
  std::int32_t* newest = nullptr;     ///< last group that the stored links do not include; kNone: none
  std::uint32_t* groups = nullptr;    ///< number of such groups
  std::uint32_t* unread = nullptr;    ///< links of their children
  std::int32_t* kept_at = nullptr;    ///< number of merges before the links were stored
  std::int32_t* parent = nullptr;     ///< the vertex itself for a root
  std::int32_t* position = nullptr;   ///< in the preorder of the parent's subtree
  std::int32_t* size = nullptr;       ///< vertices in the subtree
  State* states = nullptr;

  void place(Arena& arena, std::int64_t vertices) {
    arena.take(nodes, vertices);
    arena.take(list, vertices);
    arena.take(list_size, vertices);
    arena.take(newest, vertices);
    arena.take(groups, vertices);
    arena.take(unread, vertices);
    arena.take(kept_at, vertices);
    arena.take(parent, vertices);
    arena.take(position, vertices);
    arena.take(size, vertices);
    arena.take(states, vertices);
  }

  /// Returns the number of links of a vertex without those of unread groups.
  SPTILE_HOST_DEVICE std::uint32_t own_links(const DeviceGraph& graph, std::int32_t v) const {
    return static_cast<std::uint32_t>(list_size[v] >= 0 ? list_size[v]
                                                        : graph.offsets[v + 1] - graph.offsets[v]);
  }
};

struct StartVertices {
  DeviceGraph graph;
  Vertices x;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const auto v = static_cast<std::int32_t>(i);
    x.nodes[v] = {v, static_cast<std::uint32_t>(graph.offsets[v + 1] - graph.offsets[v])};
    x.list[v] = 0;
    x.list_size[v] = x.newest[v] = kNone;
    x.groups[v] = x.unread[v] = 0;
    x.kept_at[v] = x.position[v] = 0;
    x.parent[v] = v;
    x.size[v] = 1;
    x.states[v] = State::idle;
  }
};

/// All merges so far; those of a group are adjacent. Data of groups are at their first merge.
struct Merges {
  std::int32_t* child = nullptr;
  std::uint32_t* before = nullptr;   ///< links of the group's children before this one
  std::int32_t* children = nullptr;  ///< children of the group
  std::uint32_t* links = nullptr;    ///< links of the group's children
  std::int32_t* previous = nullptr;  ///< earlier group of the same parent; kNone: none

  void place(Arena& arena, std::int64_t vertices) {
    arena.take(child, vertices);
    arena.take(before, vertices);
    arena.take(children, vertices);
    arena.take(links, vertices);
    arena.take(previous, vertices);
  }
};

/// Workspace that is replaced by a larger one when necessary. Its contents are not kept.
template <class Parts>
class Growing {
 public:
  template <class Run>
  Status reserve(Run& run, std::int64_t size) {
    if (size <= capacity_) return {};
    capacity_ = std::max(size, capacity_ + capacity_ / 2);
    parts_.memory.reset();
    return parts_.make(run, capacity_);
  }
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] Parts& parts() { return parts_; }

 private:
  Workspace<Parts> parts_;
  std::int64_t capacity_ = 0;
};

}  // namespace sptile::runtime::cuda::rabbit
