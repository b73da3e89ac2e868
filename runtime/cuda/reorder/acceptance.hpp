// Merges of the vertices of a round into the communities that they chose.
#pragma once

#include "runtime/cuda/reorder/choices.hpp"

namespace sptile::runtime::cuda::rabbit {

struct Propose {
  Round round;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (round.batch.target[i] >= 0) round.x.states[round.vertices[i]] = State::proposes;
  }
};

/// Blocks vertices that were chosen by a vertex of higher priority.
struct Block {
  Round round;
  std::uint64_t number;  ///< number of the round

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int32_t v = round.vertices[i], target = round.batch.target[i];
    if (target < 0 || *static_cast<const volatile State*>(round.x.states + target) == State::idle) return;
    if (communities::merge_priority(number, v) > communities::merge_priority(number, target))
      *static_cast<volatile State*>(round.x.states + target) = State::blocked;
  }
};

/// Keys of the proposals: the target, or the number of vertices for those that cannot merge.
struct KeyProposals {
  Round round;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const State* const states = round.x.states;
    const std::int32_t target = round.batch.target[i];
    const bool may_merge =
        target >= 0 && states[round.vertices[i]] == State::proposes && states[target] != State::proposes;
    round.batch.sort.keys[i] = static_cast<std::uint64_t>(may_merge ? target : round.graph.vertices);
    round.batch.sort.items[i] = static_cast<std::uint32_t>(i);
  }
};

/// Proposals in the order of targets, then of the batch.
struct Proposals {
  Round round;

  /// Returns whether the proposals of a target start at p.
  SPTILE_HOST_DEVICE bool starts(std::int64_t p) const {
    const std::uint64_t* const keys = round.batch.sort.keys;
    return keys[p] < static_cast<std::uint64_t>(round.graph.vertices) && (p == 0 || keys[p - 1] != keys[p]);
  }
  SPTILE_HOST_DEVICE std::int32_t target(std::int64_t p) const {
    return static_cast<std::int32_t>(round.batch.sort.keys[p]);
  }
  SPTILE_HOST_DEVICE std::int64_t index(std::int64_t p) const { return round.batch.sort.items[p]; }
};

/// Accepts the proposals of one target per block, one by one, as long as they gain: threads load proposals,
/// the first one decides, and all write the results.
struct Accept {
  static constexpr int kThreads = 64, kPhases = 3;

  /// A proposal, or the target with the vertices that it accepted so far.
  struct Side {
    std::uint32_t strength, links;
    std::int32_t size;
  };
  struct Shared {
    Side target, proposals[kThreads];
    std::uint32_t weight[kThreads];  ///< 0: no proposal
    Side before[kThreads];           ///< the target before an accepted proposal
    bool accepted[kThreads];
    std::int32_t count;
  };

  Proposals proposals;

  SPTILE_HOST_DEVICE std::int64_t rounds(std::int64_t block) const {
    if (!proposals.starts(block)) return 0;
    const std::uint64_t* const keys = proposals.round.batch.sort.keys + block;
    return (lower_bound(keys, proposals.round.size - block, *keys + 1) + kThreads - 1) / kThreads;
  }
  SPTILE_HOST_DEVICE void operator()(Phase<0>, const BlockPlace& at, Shared& shared) const {
    const Round& round = proposals.round;
    if (at.round == 0 && at.thread == 0) {
      const std::int32_t target = proposals.target(at.block);
      shared.target = {round.x.nodes[target].strength, 0, round.x.size[target]};
      shared.count = 0;
    }
    const std::int64_t p = place(at);
    shared.weight[at.thread] = 0;
    if (p >= round.size || proposals.target(p) != proposals.target(at.block)) return;
    const std::int64_t i = proposals.index(p);
    const std::int32_t v = round.vertices[i];
    shared.weight[at.thread] = round.batch.weight[i];
    shared.proposals[at.thread] = {round.x.nodes[v].strength, round.x.own_links(round.graph, v),
                                   round.x.size[v]};
  }
  SPTILE_HOST_DEVICE void operator()(Phase<1>, const BlockPlace& at, Shared& shared) const {
    if (at.thread != 0) return;
    const auto edges = static_cast<double>(proposals.round.graph.links);
    Side& target = shared.target;
    for (int i = 0; i < kThreads; ++i) {
      const Side& v = shared.proposals[i];
      shared.accepted[i] =
          shared.weight[i] != 0 && communities::gains(shared.weight[i], edges, v.strength, target.strength);
      if (!shared.accepted[i]) continue;
      shared.before[i] = target;
      target = {target.strength + v.strength, target.links + v.links, target.size + v.size};
      ++shared.count;
    }
  }
  SPTILE_HOST_DEVICE void operator()(Phase<2>, const BlockPlace& at, Shared& shared) const {
    const Round& round = proposals.round;
    const std::int32_t target = proposals.target(at.block);
    if (at.thread == 0) {
      round.x.nodes[target].strength = shared.target.strength;
      round.x.size[target] = shared.target.size;
      round.batch.group_count[at.block] = shared.count;
      round.batch.group_links[at.block] = shared.target.links;
    }
    if (!shared.accepted[at.thread]) return;
    const std::int64_t p = place(at);
    const std::int32_t v = round.vertices[proposals.index(p)];
    round.x.nodes[v].toward_root = round.x.parent[v] = target;
    round.x.position[v] = shared.before[at.thread].size;
    round.batch.links_before[p] = shared.before[at.thread].links;
    round.batch.accepted[p] = 1;
  }

 private:
  static SPTILE_HOST_DEVICE std::int64_t place(const BlockPlace& at) {
    return at.block + kThreads * at.round + at.thread;
  }
};

/// Appends the accepted proposals to the merges, and their groups to the targets. `before`: earlier merges.
struct AddMerges {
  Proposals proposals;
  std::int32_t before;

  SPTILE_HOST_DEVICE void operator()(std::int64_t p) const {
    const Round& round = proposals.round;
    const Merges& merges = round.merges;
    const std::uint32_t* const accepted = round.batch.accepted;
    const auto at = static_cast<std::int32_t>(before + accepted[p]);
    if (accepted[p + 1] != accepted[p]) {
      merges.child[at] = round.vertices[proposals.index(p)];
      merges.before[at] = round.batch.links_before[p];
    }
    if (!proposals.starts(p) || round.batch.group_count[p] == 0) return;
    const std::int32_t target = proposals.target(p);
    merges.children[at] = round.batch.group_count[p];
    merges.links[at] = round.batch.group_links[p];
    merges.previous[at] = round.x.newest[target];
    round.x.newest[target] = at;
    ++round.x.groups[target];
    round.x.unread[target] += round.batch.group_links[p];
  }
};

/// Marks the vertices that chose a community but did not merge, unless they give up.
struct MarkDeferred {
  Round round;
  bool give_up;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    round.batch.deferred[i] = 0;
    if (i == round.size || round.batch.target[i] < 0) return;
    const std::int32_t v = round.vertices[i];
    round.x.states[v] = State::idle;
    round.batch.deferred[i] = !give_up && round.x.parent[v] == v ? 1 : 0;
  }
};

struct WriteDeferred {
  Round round;
  std::int32_t* next;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::uint32_t* const deferred = round.batch.deferred;
    if (deferred[i + 1] != deferred[i]) next[deferred[i]] = round.vertices[i];
  }
};

}  // namespace sptile::runtime::cuda::rabbit
