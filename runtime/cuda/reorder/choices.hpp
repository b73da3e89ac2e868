// Choices of the vertices of a round: sums of their links by community, and the best merge of each.
#pragma once

#include <bit>

#include "formats/core/community_rules.hpp"
#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/csr_rows.hpp"
#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/reorder/vertices.hpp"

namespace sptile::runtime::cuda::rabbit {

/// Vertices of a round and their choices.
struct Batch {
  std::int64_t* first_link = nullptr;     ///< offsets of the links that each vertex reads; size + 1
  std::uint32_t* first_list = nullptr;    ///< offsets of the lists with these links; size + 1
  std::uint64_t* best = nullptr;          ///< gain, as bits; 0: none
  std::int32_t* target = nullptr;         ///< chosen community; kNone: no merge gains modularity
  std::uint32_t* weight = nullptr;        ///< edges between the two communities
  std::uint32_t* communities = nullptr;   ///< number of communities with links
  std::int64_t* kept = nullptr;           ///< offsets in the arena of the sums that are stored; size + 1
  SortBuffers sort;                       ///< proposals by target
  std::uint32_t* accepted = nullptr;      ///< merges before each proposal; size + 1
  std::uint32_t* links_before = nullptr;  ///< Merges::before of each accepted proposal
  std::int32_t* group_count = nullptr;    ///< merges of a target, at its first proposal
  std::uint32_t* group_links = nullptr;   ///< links of these merges
  std::uint32_t* deferred = nullptr;      ///< deferred vertices before each; size + 1

  void place(Arena& arena, std::int64_t size) {
    arena.take(first_link, size + 1);
    arena.take(first_list, size + 1);
    arena.take(best, size);
    arena.take(target, size);
    arena.take(weight, size);
    arena.take(communities, size);
    arena.take(kept, size + 1);
    sort.place(arena, size);
    arena.take(accepted, size + 1);
    arena.take(links_before, size);
    arena.take(group_count, size);
    arena.take(group_links, size);
    arena.take(deferred, size + 1);
  }
};

/// Lists of links that vertices read: their own, then one per unread group.
struct Lists {
  std::int64_t* first_link = nullptr;  ///< count + 1
  std::int32_t* group = nullptr;       ///< kNone: the vertex's own list
  std::int32_t* owner = nullptr;       ///< index in the batch

  void place(Arena& arena, std::int64_t count) {
    arena.take(first_link, count + 1);
    arena.take(group, count);
    arena.take(owner, count);
  }
};

/// Hash tables of all vertices of a round, two slots per link.
struct Tables {
  WeightedLink* slots = nullptr;

  void place(Arena& arena, std::int64_t links) { arena.take(slots, 2 * links); }
};

/// A round, for its steps.
struct Round {
  DeviceGraph graph;
  Vertices x;
  Merges merges;
  const std::int32_t* vertices;  ///< the batch
  std::int64_t size;
  Batch batch;
  bool frugal;  ///< read no unread groups and store no links
};

/// Counts the links and lists that a vertex reads, and clears its choice.
struct PlanChoice {
  Round round;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const Batch& b = round.batch;
    if (i == round.size) {
      b.first_link[i] = 0;
      b.first_list[i] = 0;
      return;
    }
    const std::int32_t v = round.vertices[i];
    b.first_link[i] =
        std::int64_t{round.x.own_links(round.graph, v)} + (round.frugal ? 0 : round.x.unread[v]);
    b.first_list[i] = 1 + (round.frugal ? 0 : round.x.groups[v]);
    b.best[i] = 0;
    b.target[i] = kNone;
    b.weight[i] = b.communities[i] = 0;
  }
};

struct WriteLists {
  Round round;
  Lists lists;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    std::int64_t at = round.batch.first_list[i], link = round.batch.first_link[i];
    lists.first_link[at] = link;
    if (i == round.size) return;
    const std::int32_t v = round.vertices[i];
    lists.group[at] = kNone;
    lists.owner[at] = static_cast<std::int32_t>(i);
    link += round.x.own_links(round.graph, v);
    for (std::int32_t g = round.frugal ? kNone : round.x.newest[v]; g >= 0; g = round.merges.previous[g]) {
      lists.first_link[++at] = link;
      lists.group[at] = g;
      lists.owner[at] = static_cast<std::int32_t>(i);
      link += round.merges.links[g];
    }
  }
};

/// Returns the root of a community. Shortens paths: concurrent threads may see any ancestor.
SPTILE_HOST_DEVICE std::int32_t root_of(Node* nodes, std::int32_t v) {
  std::int32_t next = nodes[v].toward_root;
  for (std::int32_t after = nodes[next].toward_root; after != next; after = nodes[next].toward_root) {
    nodes[v].toward_root = after;
    v = after;
    next = nodes[v].toward_root;
  }
  return next;
}

/// Adds each link to the table of its vertex. The slots of a community are the same for any order of the
/// additions, except for their places.
struct SumLinks {
  Round round;
  Lists lists;
  OffsetRows<std::int64_t> by_list;
  const WeightedLink* arena;
  WeightedLink* slots;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    by_list.visit_apart(step, [&](std::int64_t link, std::int64_t list) {
      const std::int32_t owner = lists.owner[list], v = round.vertices[owner];
      WeightedLink read = at(v, lists.group[list], static_cast<std::uint32_t>(link - lists.first_link[list]));
      read.to = root_of(round.x.nodes, read.to);
      if (read.to != v) add(owner, read);
    });
  }

 private:
  /// Returns a link of a vertex's own list or of a group.
  SPTILE_HOST_DEVICE WeightedLink at(std::int32_t v, std::int32_t group, std::uint32_t i) const {
    if (group >= 0) {
      const std::int64_t child =
          group + last_at_most(round.merges.before + group, round.merges.children[group], i);
      v = round.merges.child[child];
      i -= round.merges.before[child];
    }
    if (round.x.list_size[v] >= 0) return arena[round.x.list[v] + i];
    return {round.graph.neighbours[round.graph.offsets[v] + i], 1};
  }
  SPTILE_HOST_DEVICE void add(std::int32_t owner, const WeightedLink& link) const {
    const std::int64_t begin = 2 * round.batch.first_link[owner],
                       size = 2 * round.batch.first_link[owner + 1] - begin;
    const std::uint32_t hash = static_cast<std::uint32_t>(link.to) * 0x9e3779b1u;
    std::int64_t i =
        static_cast<std::int64_t>(std::uint64_t{hash >> 1} * static_cast<std::uint64_t>(size) >> 31);
    for (;; i = i + 1 == size ? 0 : i + 1) {
      WeightedLink& slot = slots[begin + i];
      std::int32_t to = slot.to;
      if (to == kNone) {
        to = atomic_exchange_if(&slot.to, kNone, link.to);
        if (to == kNone) {
          atomic_add(round.batch.communities + owner, 1);
          to = link.to;
        }
      }
      if (to != link.to) continue;
      atomic_add(&slot.weight, link.weight);
      return;
    }
  }
};

/// The used slots of the tables, for steps over them.
struct UsedSlots {
  OffsetRows<std::int64_t> by_vertex;
  const WeightedLink* slots;

  /// Calls f(link, index in the batch).
  template <class F>
  SPTILE_HOST_DEVICE void visit(std::int64_t step, const F& f) const {
    by_vertex.visit_apart(step, [&](std::int64_t pair, std::int64_t owner) {
      for (std::int64_t i = 2 * pair; i < 2 * pair + 2; ++i)
        if (const WeightedLink slot = slots[i]; slot.to != kNone)
          f(WeightedLink{slot.to, slot.weight + 1}, static_cast<std::int32_t>(owner));
    });
  }
};

/// Returns the gain of a merge as bits, in the order of gains; 0 if the merge is not allowed.
SPTILE_HOST_DEVICE std::uint64_t gain_bits(const Round& round, std::int32_t owner, const WeightedLink& link) {
  const Node* const nodes = round.x.nodes;
  const double gain = communities::merge_gain(link.weight, static_cast<double>(round.graph.links),
                                              nodes[round.vertices[owner]].strength, nodes[link.to].strength);
  return gain >= communities::kMinGain ? std::bit_cast<std::uint64_t>(gain) : 0;
}

/// Finds the maximum gain of each vertex.
struct FindGain {
  Round round;
  UsedSlots used;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    used.visit(step, [&](const WeightedLink& link, std::int32_t owner) {
      const std::uint64_t gain = gain_bits(round, owner, link);
      // Reads before the atomic, so that few threads contend.
      if (gain > *static_cast<const volatile std::uint64_t*>(round.batch.best + owner))
        atomic_max(round.batch.best + owner, gain);
    });
  }
};

/// Finds the community with this gain; the one with the maximum id if there are several.
struct FindTarget {
  Round round;
  UsedSlots used;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    used.visit(step, [&](const WeightedLink& link, std::int32_t owner) {
      const std::uint64_t best = round.batch.best[owner];
      if (best != 0 && gain_bits(round, owner, link) == best) atomic_max(round.batch.target + owner, link.to);
    });
  }
};

/// Counts the sums that are stored for the next choice, or for the vertex that a vertex merges into. Without
/// unread groups they equal the present list.
struct CountKept {
  Round round;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const bool keeps = i < round.size && !round.frugal && round.batch.target[i] >= 0 &&
                       round.x.groups[round.vertices[i]] > 0;
    round.batch.kept[i] = keeps ? round.batch.communities[i] : 0;
  }
};

/// Replaces the list of a vertex that stores its sums.
struct StartKept {
  Round round;
  std::int64_t arena_used;
  std::int32_t merges;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t begin = round.batch.kept[i], size = round.batch.kept[i + 1] - begin;
    if (size == 0) return;
    const Vertices& x = round.x;
    const std::int32_t v = round.vertices[i];
    x.list[v] = arena_used + begin;
    x.list_size[v] = static_cast<std::int32_t>(size);
    x.newest[v] = kNone;
    x.groups[v] = x.unread[v] = 0;
    x.kept_at[v] = merges;
  }
};

/// Writes the weights of the choices, and stores sums in any order.
struct FinishChoices {
  Round round;
  UsedSlots used;
  WeightedLink* kept;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    const Batch& b = round.batch;
    used.visit(step, [&](const WeightedLink& link, std::int32_t owner) {
      if (link.to == b.target[owner]) b.weight[owner] = link.weight;
      if (b.kept[owner + 1] != b.kept[owner])
        kept[b.kept[owner] + atomic_add(b.communities + owner, ~0u) - 1] = link;
    });
  }
};

}  // namespace sptile::runtime::cuda::rabbit
