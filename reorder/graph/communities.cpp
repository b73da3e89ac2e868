#include "reorder/graph/communities.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::reorder {
namespace {

constexpr std::int64_t kRounds = 512;        // a round contains about 1 / kRounds of the vertices and edges
constexpr std::int64_t kSmallestRound = 16;  // minimum vertices per round
constexpr std::int64_t kParallelWork = 1 << 12;  // minimum edges of a round for more than one thread
constexpr std::int64_t kReadsPerEdge = 32;       // average limit; see merge_communities
constexpr std::size_t kSearchedLinks = 12;  // up to this size a linear search is faster than a hash table

std::uint32_t add_clamped(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t sum = x + y;
  return sum < x ? std::numeric_limits<std::uint32_t>::max() : sum;
}

/// The data of a vertex that its neighbors read, in 8 bytes: reading it is the most frequent cache miss.
struct Node {
  std::int32_t toward_root;  ///< the vertex itself for the root of a community
  std::uint32_t strength;    ///< for a root: sum of the degrees in its community
};

/// Weighted edge between two communities.
struct Link {
  std::int32_t to;
  std::uint32_t weight;
};

/// Combined links of a merged vertex: those of its community at the time of its choice.
struct LinkList {
  Link* links = nullptr;
  std::int32_t size = -1;  ///< -1: never written; use the neighbors in the graph
};

/// Sums links by community, in order of first appearance.
class LinkTable {
 public:
  void reset(std::size_t max_links) {
    links_.clear();
    hashed_ = max_links > kSearchedLinks;
    if (!hashed_) return;
    const auto slots = std::bit_ceil(2 * max_links);
    if (slots > slots_.size()) slots_.resize(slots);
    std::fill_n(slots_.begin(), slots, 0u);
    shift_ = 32 - std::countr_zero(slots);
  }

  void add(std::int32_t to, std::uint32_t weight) {
    if (!hashed_) {
      for (Link& link : links_)
        if (link.to == to) {
          link.weight = add_clamped(link.weight, weight);
          return;
        }
      links_.push_back({to, weight});
      return;
    }
    const std::size_t mask = (std::size_t{1} << (32 - shift_)) - 1;
    std::size_t at = static_cast<std::uint32_t>(to) * 0x9e3779b1u >> shift_;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      Link& link = links_[slots_[at] - 1];
      if (link.to != to) continue;
      link.weight = add_clamped(link.weight, weight);
      return;
    }
    links_.push_back({to, weight});
    slots_[at] = static_cast<std::uint32_t>(links_.size());
  }

  [[nodiscard]] const std::vector<Link>& links() const { return links_; }

 private:
  std::vector<Link> links_;
  std::vector<std::uint32_t> slots_;  // index of a link + 1; 0: free
  int shift_ = 0;
  bool hashed_ = false;
};

/// Arena for link lists, allocated in chunks.
class LinkArena {
 public:
  Link* allocate(std::int64_t count, std::int64_t chunk) {
    if (count > free_) {
      free_ = std::max(count, chunk);
      next_ = chunks_.emplace_back(free_).data();
      allocated_ += free_;
    }
    free_ -= count;
    return std::exchange(next_, next_ + count);
  }
  [[nodiscard]] std::int64_t allocated() const { return allocated_; }

 private:
  std::vector<formats::Buffer<Link>> chunks_;
  Link* next_ = nullptr;
  std::int64_t free_ = 0;
  std::int64_t allocated_ = 0;
};

struct Workspace {
  std::vector<Link> read;
  LinkTable table;
  LinkArena arena;
};

/// Returns the vertices by ascending degree, then by id.
formats::Buffer<std::int32_t> by_ascending_degree(const Graph& graph) {
  const std::int64_t n = graph.vertices;
  std::int64_t max = 0;
  for (std::int64_t v = 0; v < n; ++v) max = std::max(max, graph.degree(v));
  std::vector<std::int64_t> next(static_cast<std::size_t>(max) + 2, 0);
  for (std::int64_t v = 0; v < n; ++v) ++next[static_cast<std::size_t>(graph.degree(v)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  formats::Buffer<std::int32_t> order(n);
  for (std::int64_t v = 0; v < n; ++v)
    order[next[static_cast<std::size_t>(graph.degree(v))]++] = static_cast<std::int32_t>(v);
  return order;
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
        choices_(std::max(kSmallestRound, n_ / kRounds)),
        tree_{formats::Buffer<std::int32_t>(n_), formats::Buffer<std::int32_t>(n_),
              formats::Buffer<std::int32_t>(n_)} {
    parallel::loop(tbb::blocked_range<std::int64_t>(0, n_, 4096), [&](const auto& range) {
      for (std::int64_t v = range.begin(); v < range.end(); ++v) {
        nodes_[v] = {static_cast<std::int32_t>(v), static_cast<std::uint32_t>(graph_.degree(v))};
        lists_[v] = {};
        tree_.parent[v] = static_cast<std::int32_t>(v);
        tree_.last_child[v] = tree_.previous_sibling[v] = -1;
      }
    });
  }

  Result<Dendrogram> run(Progress* progress) {
    begin(progress, "merge communities", n_);
    const std::int64_t round_edges = graph_.neighbours.size() / kRounds;
    for (std::int64_t first = 0, end; first < n_; first = end) {
      if (cancelled(progress)) return fail(Errc::io, "cancelled");
      std::int64_t edges = 0;
      for (end = first; end < n_ && end - first < choices_.size() && edges <= round_edges; ++end)
        edges += graph_.degree(order_[end]);
      frugal_ = reads_ > kReadsPerEdge * graph_.neighbours.size();
      choose_all(first, end, edges);
      for (std::int64_t i = first; i < end; ++i) settle(order_[i], choices_[i - first]);
      compact(end);
      advance(progress, end - first);
    }
    return std::move(tree_);
  }

 private:
  struct Choice {
    std::int32_t target;      // -1: no merge gains modularity
    std::uint32_t weight;     // edges between the two communities
    std::int32_t last_child;  // last child of the vertex at the time of the choice
    std::int64_t reads;       // links read
  };

  /// Appends the links of a vertex as of their last update.
  void append_links(std::int32_t v, std::vector<Link>& links) const {
    if (const LinkList list = lists_[v]; list.size >= 0) {
      links.insert(links.end(), list.links, list.links + list.size);
      return;
    }
    for (const std::int32_t neighbour : graph_.of(v)) links.push_back({neighbour, 1});
  }

  /// Replaces the ends of all links by the roots of their communities, one step at a time for all links, so
  /// that the cache misses of a step overlap. Compresses paths; concurrent threads may see any ancestor, and
  /// all find the same roots.
  void move_to_roots(std::vector<Link>& links) {
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

  /// Sums the links of v's community by community and picks the best; v must be a root.
  Choice choose(std::int32_t v, Workspace& work) {
    std::vector<Link>& read = work.read;
    read.clear();
    append_links(v, read);
    for (std::int32_t child = tree_.last_child[v]; child >= 0 && !frugal_;
         child = tree_.previous_sibling[child])
      append_links(child, read);
    move_to_roots(read);
    work.table.reset(read.size());
    for (const Link& link : read)
      if (link.to != v) work.table.add(link.to, link.weight);

    Choice best = {-1, 0, tree_.last_child[v], static_cast<std::int64_t>(read.size())};
    double max = std::numeric_limits<double>::min();
    const double strength = nodes_[v].strength;
    for (const Link& link : work.table.links()) {
      const double gain = link.weight * two_m_ - strength * nodes_[link.to].strength;
      if (gain < max || (gain == max && link.to < best.target)) continue;
      max = gain;
      best.target = link.to;
      best.weight = link.weight;
    }
    // A merged vertex passes on its links. Without children they equal its neighbors in the graph.
    if (best.target >= 0 && best.last_child >= 0) {
      const std::vector<Link>& links = work.table.links();
      Link* const kept = work.arena.allocate(static_cast<std::int64_t>(links.size()), chunk_);
      std::copy(links.begin(), links.end(), kept);
      lists_[v] = {kept, static_cast<std::int32_t>(links.size())};
    }
    return best;
  }

  void choose_all(std::int64_t first, std::int64_t end, std::int64_t edges) {
    const auto choose_some = [&](std::int64_t from, std::int64_t to) {
      Workspace& work = work_.local();
      for (std::int64_t i = from; i < to; ++i) choices_[i - first] = choose(order_[i], work);
    };
    if (edges < kParallelWork) return choose_some(first, end);
    parallel::loop(tbb::blocked_range<std::int64_t>(first, end),
                   [&](const auto& range) { choose_some(range.begin(), range.end()); });
  }

  /// Merges v according to its choice, or chooses again if this round changed the communities involved.
  void settle(std::int32_t v, Choice choice) {
    reads_ += choice.reads;
    if (!holds(v, choice)) {
      lists_[v] = {};
      choice = choose(v, work_.local());
      reads_ += choice.reads;
    }
    if (choice.target < 0) return;
    nodes_[v].toward_root = choice.target;
    nodes_[choice.target].strength = add_clamped(nodes_[choice.target].strength, nodes_[v].strength);
    tree_.parent[v] = choice.target;
    tree_.previous_sibling[v] = std::exchange(tree_.last_child[choice.target], v);
  }

  bool holds(std::int32_t v, const Choice& choice) {
    if (tree_.last_child[v] != choice.last_child) return false;
    if (choice.target < 0) return true;
    const Node target = nodes_[choice.target];
    return target.toward_root == choice.target &&
           choice.weight * two_m_ > static_cast<double>(nodes_[v].strength) * target.strength;
  }

  /// Frees link lists that are no longer needed once they hold most of the memory. The lists of children of
  /// vertices from `end` on are still needed.
  void compact(std::int64_t end) {
    std::int64_t allocated = 0;
    for (const Workspace& work : work_) allocated += work.arena.allocated();
    if (allocated <= compact_at_) return;
    const auto each_list = [&](auto&& visit) {
      for (std::int64_t i = end; i < n_; ++i)
        for (std::int32_t v = tree_.last_child[order_[i]]; v >= 0; v = tree_.previous_sibling[v])
          if (lists_[v].size > 0) visit(lists_[v]);
    };
    std::int64_t live = 0;
    each_list([&](LinkList& list) { live += list.size; });
    LinkArena kept;
    each_list([&](LinkList& list) {
      Link* const links = kept.allocate(list.size, live);
      std::copy_n(list.links, list.size, links);
      list.links = links;
    });
    for (Workspace& work : work_) work.arena = {};
    work_.local().arena = std::move(kept);
    compact_at_ = std::max(compact_at_, 2 * live);
  }

  const Graph& graph_;
  std::int64_t n_;
  double two_m_;
  std::int64_t chunk_;
  formats::Buffer<std::int32_t> order_;
  formats::Buffer<Node> nodes_;
  formats::Buffer<LinkList> lists_;
  formats::Buffer<Choice> choices_;
  Dendrogram tree_;
  parallel::PerThread<Workspace> work_;
  std::int64_t reads_ = 0;
  std::int64_t compact_at_ = graph_.neighbours.size() / 2 + (1 << 20);
  bool frugal_ = false;
};

}  // namespace

Result<Dendrogram> merge_communities(const Graph& graph, Progress* progress) {
  return Aggregation(graph).run(progress);
}

std::vector<std::int32_t> depth_first(const Dendrogram& tree) {
  const std::int64_t n = tree.parent.size();
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(n));
  std::vector<std::int32_t> waiting;
  for (std::int64_t root = 0; root < n; ++root) {
    if (tree.parent[root] != root) continue;
    waiting.push_back(static_cast<std::int32_t>(root));
    while (!waiting.empty()) {
      const std::int32_t v = waiting.back();
      waiting.pop_back();
      order.push_back(v);
      for (std::int32_t c = tree.last_child[v]; c >= 0; c = tree.previous_sibling[c]) waiting.push_back(c);
    }
  }
  return order;
}

std::vector<std::int32_t> rows_of(const formats::CsrView& a, std::span<const std::int32_t> vertices) {
  std::vector<std::int32_t> rows;
  rows.reserve(static_cast<std::size_t>(a.rows));
  for (const std::int32_t v : vertices)
    if (v < a.rows && a.row_nnz(v) > 0) rows.push_back(v);
  for (std::int32_t r = 0; r < a.rows; ++r)
    if (a.row_nnz(r) == 0) rows.push_back(r);
  return rows;
}

}  // namespace sptile::reorder
