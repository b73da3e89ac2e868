#include "reorder/graph/communities.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <utility>

#include "formats/core/community_rules.hpp"
#include "formats/core/counting_sort.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_select.hpp"
#include "formats/core/per_thread.hpp"
#include "reorder/graph/by_degree.hpp"
#include "reorder/graph/links.hpp"

namespace sptile::reorder {
namespace {

using namespace communities;

constexpr std::int64_t kTaskLinks = 1 << 12;   // minimum links of a task
constexpr std::int64_t kHeavyLinks = 1 << 13;  // from this number on, a vertex is read by several threads
constexpr std::int64_t kHeavyPart = 1 << 11;   // links of a heavy vertex that a task sums first
constexpr std::int64_t kHeavyShards = 64;      // parts of its communities
constexpr std::int64_t kSettleGrain = 1 << 8;  // minimum vertices of a task
constexpr std::int64_t kMaxShards = 64;        // parts of the communities that accept vertices

/// The data of a vertex that its neighbors read, in 8 bytes: reading it is the most frequent cache miss.
struct Node {
  std::int32_t toward_root;  ///< the vertex itself for the root of a community
  std::uint32_t strength;    ///< for a root: sum of the degrees in its community
};

/// Combined links of a vertex and of the children it had when they were summed.
struct LinkList {
  const Link* links = nullptr;
  std::int32_t size = -1;   ///< -1: never summed; use the neighbors in the graph
  std::int32_t seen = -1;   ///< last child whose links are included
  std::int64_t unread = 0;  ///< links of the children merged since
};

struct Choice {
  std::int32_t target;   // -1: no merge gains modularity
  std::uint32_t weight;  // edges between the two communities
};

/// The best choice so far; the result does not depend on the order of the candidates.
struct BestChoice {
  double gain = kMinGain;
  Choice choice = {-1, 0};

  void consider(double other_gain, Choice other) {
    if (other_gain < gain || (other_gain == gain && other.target < choice.target)) return;
    gain = other_gain;
    choice = other;
  }
};

struct Workspace {
  std::vector<Link> read;
  LinkTable table;
  LinkArena arena;
  std::int64_t reads = 0;
};

/// Links of a heavy vertex, in parts with disjoint communities.
struct Shard {
  std::vector<Link> links;
  BestChoice best;
};

enum class State : std::uint8_t {
  idle,      // did not choose a community in this round
  proposes,  // chose one
  blocked,   // chose one, but must wait for a vertex that chose it
};

/// Runs body(first, last) on parts of 0 .. count - 1 of at least `grain` items.
template <class Body>
void in_parts(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= grain) return body(std::int64_t{0}, count);
  parallel::loop(tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
                 [&](const auto& range) { body(range.begin(), range.end()); });
}

class Aggregation {
 public:
  explicit Aggregation(const Graph& graph)
      : graph_(graph),
        n_(graph.vertices),
        two_m_(static_cast<double>(graph.neighbours.size())),
        chunk_(std::clamp<std::int64_t>(graph.neighbours.size() / 64, 1 << 10, 1 << 17)),
        order_(by_ascending_degree(graph)),
        nodes_(n_),
        lists_(n_),
        states_(n_),
        tree_(n_) {
    in_parts(n_, kTaskLinks, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v) {
        nodes_[v] = {static_cast<std::int32_t>(v), static_cast<std::uint32_t>(graph_.degree(v))};
        lists_[v] = {};
        states_[v] = State::idle;
      }
    });
  }

  Result<Dendrogram> run(Progress* progress, MergeWork* work) {
    begin(progress, "merge communities", n_);
    MergeWork sum;
    while (next_ < n_ || !batch_.empty()) {
      if (cancelled(progress)) return fail(Errc::io, "cancelled");
      add_to_batch();
      frugal_ = sum.reads > kReadsPerEdge * graph_.neighbours.size();
      choose_all();
      sum.reads = reads();
      ++sum.rounds;
      sum.choices += std::ssize(batch_);
      propose(static_cast<std::uint64_t>(sum.rounds));
      accept_all();
      const std::int64_t before = std::ssize(batch_);
      defer(sum.reads > kGiveUpPerEdge * graph_.neighbours.size());
      compact();
      advance(progress, before - std::ssize(batch_));
    }
    if (work != nullptr) *work = sum;
    return std::move(tree_);
  }

 private:
  /// Appends the next vertices by degree to the deferred ones.
  void add_to_batch() {
    const RoundLimits limits = round_limits(n_, graph_.neighbours.size());
    const std::int64_t first = next_;
    for (std::int64_t edges = 0; next_ < n_ && next_ - first < limits.vertices && edges <= limits.edges;
         ++next_)
      edges += order_.degree(next_);
    batch_.insert(batch_.end(), order_.vertices.begin() + first, order_.vertices.begin() + next_);
    choices_.resize(batch_.size());
  }

  [[nodiscard]] std::int64_t links_to_read(std::int32_t v) const {
    const LinkList& list = lists_[v];
    return (list.size >= 0 ? list.size : graph_.degree(v)) + (frugal_ ? 0 : list.unread);
  }

  /// Calls visit(links) or visit(neighbors) for each list that v's choice reads.
  template <class Visit>
  void for_each_list(std::int32_t v, const Visit& visit) const {
    const auto visit_one = [&](std::int32_t u) {
      if (const LinkList& list = lists_[u]; list.size >= 0)
        visit(std::span(list.links, static_cast<std::size_t>(list.size)));
      else
        visit(graph_.of(u));
    };
    visit_one(v);
    if (frugal_) return;
    const std::int32_t seen = lists_[v].seen;
    for (std::int32_t c = tree_.last_child[v]; c != seen; c = tree_.previous_sibling[c]) visit_one(c);
  }

  static Link link_to(const Link& link) { return link; }
  static Link link_to(std::int32_t neighbour) { return {neighbour, 1}; }

  /// Replaces the ends of all links by the roots of their communities, one step at a time for all links, so
  /// that the cache misses of a step overlap. Compresses paths; concurrent threads may see any ancestor, and
  /// all find the same roots.
  void move_to_roots(std::span<Link> links) {
    const auto toward_root = [&](std::int32_t v) { return std::atomic_ref(nodes_[v].toward_root); };
    for (bool moved = true; moved;) {
      moved = false;
      for (Link& link : links) {
        const std::int32_t next = toward_root(link.to).load(std::memory_order_relaxed);
        const std::int32_t after = toward_root(next).load(std::memory_order_relaxed);
        if (next != after) toward_root(link.to).store(after, std::memory_order_relaxed);
        moved |= next != after;
        link.to = after;
      }
    }
  }

  [[nodiscard]] BestChoice best_of(std::int32_t v, std::span<const Link> links) const {
    BestChoice best;
    const std::uint32_t strength = nodes_[v].strength;
    for (const Link& link : links)
      best.consider(merge_gain(link.weight, two_m_, strength, nodes_[link.to].strength),
                    {link.to, link.weight});
    return best;
  }

  /// Keeps v's sums for the vertex that it merges into, or for its next choice. Without children they equal
  /// its neighbors in the graph.
  Link* keep_links(std::int32_t v, std::int64_t count, Workspace& work) {
    Link* const kept = work.arena.allocate(count, chunk_);
    lists_[v] = {kept, static_cast<std::int32_t>(count), tree_.last_child[v], 0};
    return kept;
  }
  [[nodiscard]] bool keeps_links(std::int32_t v, const Choice& choice) const {
    return choice.target >= 0 && !frugal_ && lists_[v].seen != tree_.last_child[v];
  }

  /// Sums the links of v's community by community and picks the best; v must be a root.
  Choice choose(std::int32_t v, Workspace& work) {
    std::vector<Link>& read = work.read;
    read.clear();
    for_each_list(v, [&](const auto& list) {
      for (const auto& end : list) read.push_back(link_to(end));
    });
    work.reads += std::ssize(read);
    move_to_roots(read);
    work.table.reset(read.size());
    for (const Link& link : read)
      if (link.to != v) work.table.add(link.to, link.weight);
    const std::vector<Link>& links = work.table.links();
    const Choice choice = best_of(v, links).choice;
    if (keeps_links(v, choice)) std::ranges::copy(links, keep_links(v, std::ssize(links), work));
    return choice;
  }

  /// Links in parts; each part has its sums in front.
  struct PartialSums {
    formats::Buffer<Link> links;
    std::vector<std::int64_t> sizes;  // number of sums of each part of kHeavyPart links

    [[nodiscard]] std::span<const Link> of(std::size_t part) const {
      return {links.data() + static_cast<std::int64_t>(part) * kHeavyPart,
              static_cast<std::size_t>(sizes[part])};
    }
  };

  /// Reads the links of v, moves them to roots, and sums parts of them by community, all in parallel.
  PartialSums read_heavy(std::int32_t v) {
    std::vector<std::pair<std::int64_t, std::int32_t>> lists;  // start of each list in the result, its vertex
    std::int64_t total = 0;
    const auto add = [&](std::int32_t u) {
      lists.emplace_back(total, u);
      total += lists_[u].size >= 0 ? lists_[u].size : graph_.degree(u);
    };
    add(v);
    if (!frugal_)
      for (std::int32_t c = tree_.last_child[v]; c != lists_[v].seen; c = tree_.previous_sibling[c]) add(c);
    lists.emplace_back(total, v);
    const std::int64_t parts = (total + kHeavyPart - 1) / kHeavyPart;
    PartialSums sums{formats::Buffer<Link>(total),
                     std::vector<std::int64_t>(static_cast<std::size_t>(parts))};
    parallel::loop(std::int64_t{0}, parts, [&](std::int64_t part) {
      const std::int64_t first = part * kHeavyPart, last = std::min(total, first + kHeavyPart);
      auto list = std::ranges::upper_bound(lists, first, {}, [](const auto& l) { return l.first; }) - 1;
      for (std::int64_t at = first; at < last; ++list) {
        const auto [start, u] = *list;
        const LinkList& summed = lists_[u];
        const std::int32_t* const neighbours = graph_.of(u).data();
        for (const std::int64_t stop = std::min(list[1].first, last); at < stop; ++at)
          sums.links[at] = summed.size >= 0 ? summed.links[at - start] : Link{neighbours[at - start], 1};
      }
      const auto links =
          sums.links.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
      move_to_roots(links);
      LinkTable& table = work_.local().table;
      table.reset(links.size());
      for (const Link& link : links)
        if (link.to != v) table.add(link.to, link.weight);
      std::ranges::copy(table.links(), links.begin());
      sums.sizes[static_cast<std::size_t>(part)] = std::ssize(table.links());
    });
    work_.local().reads += total;
    return sums;
  }

  /// choose() by all threads, for a vertex with many links.
  Choice choose_heavy(std::int32_t v) {
    const PartialSums sums = read_heavy(v);
    const std::int64_t total = std::accumulate(sums.sizes.begin(), sums.sizes.end(), std::int64_t{0});
    const auto tasks =
        static_cast<int>(std::min<std::int64_t>(std::ssize(sums.sizes), parallel::max_threads()));
    const auto first_part = [&](int task) {
      return sums.sizes.size() * static_cast<std::size_t>(task) / tasks;
    };
    formats::Buffer<Link> sorted(total);
    const auto starts = formats::counting_sort(
        kHeavyShards, tasks,
        [&](int task, auto&& sink) {
          for (std::size_t part = first_part(task); part < first_part(task + 1); ++part)
            for (const Link& link : sums.of(part)) sink(link.to % kHeavyShards, link);
        },
        [&](std::int64_t position, const Link& link) { sorted[position] = link; });
    std::vector<Shard> shards(kHeavyShards);
    parallel::loop(std::size_t{0}, shards.size(), [&](std::size_t s) {
      const auto shard = static_cast<std::int64_t>(s);
      LinkTable& table = work_.local().table;
      table.reset(static_cast<std::size_t>(starts[shard + 1] - starts[shard]));
      for (std::int64_t i = starts[shard]; i < starts[shard + 1]; ++i)
        table.add(sorted[i].to, sorted[i].weight);
      shards[s] = {table.links(), best_of(v, table.links())};
    });
    BestChoice best;
    std::int64_t count = 0;
    for (const Shard& shard : shards) {
      if (shard.best.choice.target >= 0) best.consider(shard.best.gain, shard.best.choice);
      count += std::ssize(shard.links);
    }
    if (keeps_links(v, best.choice)) {
      Link* kept = keep_links(v, count, work_.local());
      for (const Shard& shard : shards) kept = std::ranges::copy(shard.links, kept).out;
    }
    return best.choice;
  }

  void choose_all() {
    std::int64_t links = 0;
    heavy_.clear();
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const std::int64_t own = links_to_read(batch_[i]);
      if (own >= kHeavyLinks) heavy_.push_back(i);
      links += own;
    }
    const auto choose_some = [&](std::size_t first, std::size_t last) {
      Workspace& work = work_.local();
      for (std::size_t i = first; i < last; ++i)
        if (links_to_read(batch_[i]) < kHeavyLinks) choices_[i] = choose(batch_[i], work);
    };
    if (links < kTaskLinks) {
      choose_some(0, batch_.size());
    } else {
      parallel::loop(tbb::blocked_range<std::size_t>(0, batch_.size()),
                     [&](const auto& range) { choose_some(range.begin(), range.end()); });
    }
    for (const std::size_t i : heavy_) choices_[i] = choose_heavy(batch_[i]);
  }

  [[nodiscard]] std::int64_t reads() const {
    std::int64_t sum = 0;
    for (const Workspace& work : work_) sum += work.reads;
    return sum;
  }

  template <class Body>
  void for_each_proposal(const Body& body) {
    in_parts(std::ssize(batch_), kSettleGrain, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        if (const Choice& choice = choices_[static_cast<std::size_t>(i)]; choice.target >= 0)
          body(batch_[static_cast<std::size_t>(i)], choice.target);
    });
  }

  /// Marks the vertices that proposed, and blocks those that were chosen by a vertex of higher priority. The
  /// priorities are hashes that change with the round, so that chains of choices are short on any graph.
  void propose(std::uint64_t round) {
    const auto state = [&](std::int32_t v) { return std::atomic_ref(states_[v]); };
    const auto priority = [&](std::int32_t v) { return merge_priority(round, v); };
    for_each_proposal(
        [&](std::int32_t v, std::int32_t) { state(v).store(State::proposes, std::memory_order_relaxed); });
    for_each_proposal([&](std::int32_t v, std::int32_t target) {
      if (state(target).load(std::memory_order_relaxed) != State::idle && priority(v) > priority(target))
        state(target).store(State::blocked, std::memory_order_relaxed);
    });
  }

  /// Merges vertices that are not blocked into communities that do not merge themselves. The communities are
  /// divided among tasks; each accepts in the order of the batch.
  void accept_all() {
    const auto shards = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint64_t>(
        std::clamp<std::int64_t>(std::ssize(batch_) / kSettleGrain, 1, kMaxShards))));
    parallel::loop(0, shards, [&](std::int32_t shard) {
      for (std::size_t i = 0; i < batch_.size(); ++i)
        if (choices_[i].target >= 0 && (choices_[i].target & (shards - 1)) == shard)
          accept(batch_[i], choices_[i]);
    });
  }

  void accept(std::int32_t v, const Choice& choice) {
    const std::int32_t target = choice.target;
    if (states_[v] != State::proposes || states_[target] == State::proposes) return;
    Node& node = nodes_[target];
    if (!gains(choice.weight, two_m_, nodes_[v].strength, node.strength)) return;
    node.strength = add_clamped(node.strength, nodes_[v].strength);
    nodes_[v].toward_root = target;
    lists_[target].unread += lists_[v].size >= 0 ? lists_[v].size : graph_.degree(v);
    tree_.merge(v, target);
  }

  /// Keeps the vertices that chose a community but did not merge, unless `give_up`.
  void defer(bool give_up) {
    for_each_proposal([&](std::int32_t v, std::int32_t) { states_[v] = State::idle; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < batch_.size(); ++i)
      if (!give_up && choices_[i].target >= 0 && tree_.parent[batch_[i]] == batch_[i])
        batch_[kept++] = batch_[i];
    batch_.resize(kept);
  }

  /// Returns vertex i of those that will choose: the deferred ones, then those of later rounds.
  [[nodiscard]] std::int32_t waiting(std::int64_t i) const {
    const std::int64_t deferred = std::ssize(batch_);
    return i < deferred ? batch_[static_cast<std::size_t>(i)] : order_.vertices[next_ + i - deferred];
  }

  /// Frees link lists that are no longer needed once they hold most of the memory. The lists of vertices that
  /// will choose, and of their children, are still needed.
  void compact() {
    std::int64_t allocated = 0;
    for (const Workspace& work : work_) allocated += work.arena.allocated();
    if (allocated <= compact_at_) return;
    parallel::PerThread<LinkArena> kept;
    const auto move = [&](std::int32_t v, LinkArena& arena) {
      LinkList& list = lists_[v];
      if (list.size <= 0) return;
      Link* const links = arena.allocate(list.size, chunk_);
      std::copy_n(list.links, list.size, links);
      list.links = links;
    };
    std::vector<std::int32_t> needed(batch_.size() + static_cast<std::size_t>(n_ - next_));
    needed.resize(static_cast<std::size_t>(parallel::select(
        std::ssize(needed), [&](std::int64_t i) { return tree_.last_child[waiting(i)] >= 0; },
        [&](std::int64_t at, std::int64_t i) { needed[static_cast<std::size_t>(at)] = waiting(i); })));
    for (std::size_t i = 0, parents = needed.size(); i < parents; ++i)
      for (std::int32_t c = tree_.last_child[needed[i]]; c != lists_[needed[i]].seen;
           c = tree_.previous_sibling[c])
        needed.push_back(c);
    in_parts(std::ssize(needed), kSettleGrain, [&](std::int64_t first, std::int64_t last) {
      LinkArena& arena = kept.local();
      for (std::int64_t i = first; i < last; ++i) move(needed[static_cast<std::size_t>(i)], arena);
    });
    std::int64_t live = 0;
    for (Workspace& work : work_) work.arena = {};
    for (LinkArena& arena : kept) live += arena.allocated();
    kept_.clear();
    for (LinkArena& arena : kept) kept_.push_back(std::move(arena));
    compact_at_ = std::max(compact_at_, live);
  }

  const Graph& graph_;
  std::int64_t n_;
  double two_m_;
  std::int64_t chunk_;
  DegreeOrder order_;
  std::int64_t next_ = 0;  // index in order_ of the next new vertex
  formats::Buffer<Node> nodes_;
  formats::Buffer<LinkList> lists_;
  formats::Buffer<State> states_;
  Dendrogram tree_;
  std::vector<std::int32_t> batch_;  // vertices of the round: deferred ones, then new ones by degree
  std::vector<Choice> choices_;
  std::vector<std::size_t> heavy_;
  parallel::PerThread<Workspace> work_;
  std::vector<LinkArena> kept_;  // lists that survived the last compaction
  std::int64_t compact_at_ = graph_.neighbours.size() / 2 + (1 << 20);
  bool frugal_ = false;
};

}  // namespace

Result<Dendrogram> merge_communities(const Graph& graph, Progress* progress, MergeWork* work) {
  return Aggregation(graph).run(progress, work);
}

}  // namespace sptile::reorder
