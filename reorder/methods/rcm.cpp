#include "reorder/methods/rcm.hpp"

#include <algorithm>
#include <boost/graph/cuthill_mckee_ordering.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/transform_iterator.hpp>
#include <deque>
#include <utility>

namespace sptile::reorder {
namespace {

struct Edge {
  std::int32_t source = 0, target = 0;
  bool operator==(const Edge&) const = default;
};

struct ToEdge {
  std::int32_t source = 0;
  Edge operator()(std::int32_t target) const { return {source, target}; }
};

// Adapts Graph to Boost.Graph without copying: type names here, free functions below.
struct BoostGraph {
  using vertex_descriptor = std::int32_t;
  using edge_descriptor = Edge;
  using vertex_iterator = boost::counting_iterator<std::int32_t>;
  using out_edge_iterator = boost::transform_iterator<ToEdge, const std::int32_t*>;
  using directed_category = boost::directed_tag;  // each edge is in both lists
  using edge_parallel_category = boost::disallow_parallel_edge_tag;
  struct traversal_category : boost::incidence_graph_tag, boost::vertex_list_graph_tag {};
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return -1; }

  const Graph& graph;
};

std::pair<BoostGraph::vertex_iterator, BoostGraph::vertex_iterator> vertices(const BoostGraph& g) {
  return {BoostGraph::vertex_iterator(0),
          BoostGraph::vertex_iterator(static_cast<std::int32_t>(g.graph.vertices))};
}

std::pair<BoostGraph::out_edge_iterator, BoostGraph::out_edge_iterator> out_edges(std::int32_t v,
                                                                                  const BoostGraph& g) {
  const auto list = g.graph.of(v);
  return {{list.data(), ToEdge{v}}, {list.data() + list.size(), ToEdge{v}}};
}

std::size_t out_degree(std::int32_t v, const BoostGraph& g) {
  return static_cast<std::size_t>(g.graph.degree(v));
}
std::int32_t source(const Edge& e, const BoostGraph&) { return e.source; }
std::int32_t target(const Edge& e, const BoostGraph&) { return e.target; }

// Sorts neighbors by degree, then by number. Keys are distinct, so the result does not depend on the sort
// algorithm.
struct DegreeThenNumber {
  using key_type = std::int32_t;
  using value_type = std::uint64_t;
  using reference = value_type;
  using category = boost::readable_property_map_tag;
  const Graph* graph;

  friend value_type get(const DegreeThenNumber& map, std::int32_t v) {
    return static_cast<std::uint64_t>(map.graph->degree(v)) << 32 | static_cast<std::uint32_t>(v);
  }
  value_type operator[](std::int32_t v) const { return get(*this, v); }
};

struct Cancelled {};

// Output iterator that appends vertices; the only place where Boost's traversal can report progress and be
// cancelled.
struct Collector {
  using iterator_category = std::output_iterator_tag;
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = void;
  std::vector<std::int32_t>* order;
  Progress* progress;

  Collector& operator*() { return *this; }
  Collector& operator++() { return *this; }
  Collector operator++(int) { return *this; }
  Collector& operator=(std::int32_t v) {
    constexpr std::size_t kPoll = 4096;
    order->push_back(v);
    if (order->size() % kPoll == 0) {
      advance(progress, kPoll);
      if (cancelled(progress)) throw Cancelled{};
    }
    return *this;
  }
};

// Traverses one component at a time, breadth first; `distance` is -1 for unvisited vertices.
class Rim {
 public:
  explicit Rim(const Graph& graph) : graph_(graph), distance_(static_cast<std::size_t>(graph.vertices), -1) {}

  [[nodiscard]] bool seen(std::int64_t v) const { return distance_[static_cast<std::size_t>(v)] >= 0; }

  RcmComponent component_of(std::int32_t v) {
    constexpr int kMaxSweeps = 8;  // each is O(component); two or three are usual
    reached_.clear();              // the previous component stays visited
    sweep(v);
    std::int32_t start = min_degree(reached_);
    std::int32_t depth = -1;
    for (int i = 0; i < kMaxSweeps; ++i) {
      const std::int32_t deeper = sweep(start);
      if (deeper <= depth) break;
      depth = deeper;
      start = farthest();
    }
    return {start, static_cast<std::int64_t>(reached_.size())};
  }

 private:
  [[nodiscard]] std::int32_t& distance(std::int32_t v) { return distance_[static_cast<std::size_t>(v)]; }
  // Fills reached_ with the component by ascending distance from `from`; returns the maximum distance.
  std::int32_t sweep(std::int32_t from) {
    for (const std::int32_t v : reached_) distance(v) = -1;
    reached_.assign(1, from);
    distance(from) = 0;
    for (std::size_t i = 0; i < reached_.size(); ++i)
      for (const std::int32_t u : graph_.of(reached_[i]))
        if (distance(u) < 0) {
          distance(u) = distance(reached_[i]) + 1;
          reached_.push_back(u);
        }
    return distance(reached_.back());
  }

  [[nodiscard]] std::int32_t min_degree(std::span<const std::int32_t> vertices) const {
    return *std::ranges::min_element(vertices, {},
                                     [&](std::int32_t v) { return std::pair(graph_.degree(v), v); });
  }

  // Returns the vertex with the minimum degree among the farthest ones.
  [[nodiscard]] std::int32_t farthest() {
    const std::int32_t depth = distance(reached_.back());
    const auto first = std::ranges::partition_point(
        reached_, [&](std::int32_t v) { return distance_[static_cast<std::size_t>(v)] < depth; });
    return min_degree({first, reached_.end()});
  }

  const Graph& graph_;
  std::vector<std::int32_t> distance_, reached_;
};

}  // namespace

std::vector<RcmComponent> peripheral_starts(const Graph& graph) {
  std::vector<RcmComponent> components;
  Rim rim(graph);
  for (std::int64_t v = 0; v < graph.vertices; ++v)
    if (graph.degree(v) > 0 && !rim.seen(v))
      components.push_back(rim.component_of(static_cast<std::int32_t>(v)));
  return components;
}

Result<std::vector<std::int32_t>> order_by_rcm(const formats::CsrView& a, const ReorderOptions& options) {
  auto graph = graph_of(a);
  if (!graph) return tl::unexpected(std::move(graph.error()));
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  const std::vector<RcmComponent> components = peripheral_starts(*graph);
  // Boost's search for start vertices takes a pass over all vertices per component; given start vertices, it
  // traverses each component once.
  std::deque<std::int32_t> starts;
  for (const RcmComponent& component : components) starts.push_back(component.start);
  begin(options.progress, "rcm", graph->vertices);
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(graph->vertices));
  std::vector<boost::default_color_type> colours(static_cast<std::size_t>(graph->vertices));
  try {
    boost::cuthill_mckee_ordering(BoostGraph{*graph}, std::move(starts), Collector{&order, options.progress},
                                  colours.data(), DegreeThenNumber{&*graph});
  } catch (const Cancelled&) {
    return fail(Errc::io, "cancelled");
  }
  auto first = order.begin();
  for (const RcmComponent& component : components) {
    std::reverse(first, first + component.size);
    first += component.size;
  }
  return rows_in_order(a, *graph, order);
}

}  // namespace sptile::reorder
