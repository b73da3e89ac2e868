#include "formats/core/sample_neighbors.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "formats/core/random.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kMostNodes = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kAhead = 16;  // items between a prefetch and its use

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Numbers nodes of the graph by their first place in the sample: a hash table with linear probing.
class PlaceTable {
 public:
  // Allocates space for `count` nodes.
  void reserve(std::int64_t count) {
    const std::size_t needed = std::bit_ceil(2 * at(count) + 2);
    if (needed <= slots_.size()) return;
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(needed));
    shift_ = 64 - std::countr_zero(needed);
    for (const Slot& slot : before)
      if (slot.node >= 0) find(slot.node) = slot;
  }

  void prefetch(std::int32_t node) const { __builtin_prefetch(&slots_[home(node)]); }

  // Returns the place of the node, which is `next` if the node is new.
  std::int32_t place(std::int32_t node, std::int64_t next) {
    Slot& slot = find(node);
    if (slot.node < 0) slot = {node, static_cast<std::int32_t>(next)};
    return slot.place;
  }

 private:
  struct Slot {
    std::int32_t node = -1, place = -1;
  };

  [[nodiscard]] std::size_t home(std::int32_t node) const { return at(node) * 0x9e3779b97f4a7c15u >> shift_; }

  Slot& find(std::int32_t node) {
    std::size_t i = home(node);
    while (slots_[i].node >= 0 && slots_[i].node != node) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  std::vector<Slot> slots_;
  int shift_ = 63;
};

class Sampler {
 public:
  Sampler(const CsrView& graph, std::uint64_t seed) : graph_(graph), seed_(seed) {}

  Result<NeighborSample> run(std::span<const std::int64_t> seeds, std::span<const std::int64_t> fan_outs) {
    out_.node_ids.assign(seeds.begin(), seeds.end());
    places_.reserve(nodes());
    for (std::int64_t i = 0; i < nodes(); ++i)
      places_.place(static_cast<std::int32_t>(out_.node_ids[at(i)]), i);
    out_.row_ptr.push_back(0);
    out_.ends.push_back(nodes());
    std::int64_t first = 0;
    for (const std::int64_t fan_out : fan_outs) {
      const std::int64_t last = nodes();
      if (Status s = count_neighbors(first, last, fan_out); !s) return tl::unexpected(s.error());
      choose(first, last);
      if (Status s = name_neighbors(first); !s) return tl::unexpected(s.error());
      sort_rows(first, last);
      out_.ends.push_back(nodes());
      first = last;
    }
    out_.row_ptr.resize(at(nodes()) + 1, out_.row_ptr.back());
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(out_.node_ids.size()); }
  [[nodiscard]] std::int64_t row_begin(std::int64_t node) const { return graph_.row_ptr[at(node)]; }
  [[nodiscard]] std::int64_t row_end(std::int64_t node) const { return graph_.row_ptr[at(node) + 1]; }

  // Appends the row pointers of the places from `first` to `last`.
  Status count_neighbors(std::int64_t first, std::int64_t last, std::int64_t fan_out) {
    out_.row_ptr.reserve(at(last) + 1);
    for (std::int64_t i = first; i < last; ++i) {
      if (i + static_cast<std::int64_t>(kAhead) < last)
        __builtin_prefetch(&graph_.row_ptr[at(out_.node_ids[at(i) + kAhead])]);
      const std::int64_t node = out_.node_ids[at(i)], begin = row_begin(node), end = row_end(node);
      if (begin < 0 || end < begin || end > graph_.nnz())
        return fail(Errc::bad_input, "row_ptr[" + std::to_string(node) + "] is " + std::to_string(begin) +
                                         ", and the next element is " + std::to_string(end) +
                                         "; expected ascending numbers from 0 to " +
                                         std::to_string(graph_.nnz()));
      const std::int64_t degree = end - begin;
      out_.row_ptr.push_back(out_.row_ptr.back() + (fan_out < 0 ? degree : std::min(degree, fan_out)));
    }
    return {};
  }

  // Writes the entries of the graph that the rows take.
  void choose(std::int64_t first, std::int64_t last) {
    out_.edge_ids.resize(at(out_.row_ptr.back()));
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t node = out_.node_ids[at(i)], begin = row_begin(node);
      const auto row = std::span(out_.edge_ids).subspan(at(out_.row_ptr[at(i)]), taken(i));
      choose_some(row, begin, row_end(node) - begin, RandomStream(seed_, static_cast<std::uint64_t>(i)));
      for (const std::int64_t entry : row) __builtin_prefetch(&graph_.col_idx[at(entry)]);
    }
  }

  [[nodiscard]] std::size_t taken(std::int64_t i) const {
    return at(out_.row_ptr[at(i) + 1] - out_.row_ptr[at(i)]);
  }

  // Draws a subset of begin .. begin + count - 1 of the size of `row`, ascending.
  static void choose_some(std::span<std::int64_t> row, std::int64_t begin, std::int64_t count,
                          RandomStream random) {
    const auto size = static_cast<std::int64_t>(row.size());
    if (count <=
        2 * size) {  // selection sampling: Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S
      std::int64_t left = size;
      for (std::int64_t i = 0; left > 0; ++i)
        if (left == count - i || random.below(count - i) < left) row[at(size - left--)] = begin + i;
      return;
    }
    // The first distinct numbers of a random sequence. Less than half of the numbers are taken, so that few
    // draws are repetitions.
    auto end = row.begin();
    while (end != row.end()) {
      std::generate(end, row.end(), [&] { return begin + random.below(count); });
      std::sort(row.begin(), row.end());
      end = std::unique(row.begin(), row.end());
    }
  }

  // Writes the columns of the edges of the rows from `first`, and appends new nodes.
  Status name_neighbors(std::int64_t first) {
    const auto begin = at(out_.row_ptr[at(first)]), end = out_.edge_ids.size();
    auto& columns = out_.col_idx;
    columns.resize(end);
    for (std::size_t k = begin; k < end; ++k) {
      const std::int32_t node = graph_.col_idx[at(out_.edge_ids[k])];
      if (node < 0 || node >= graph_.cols)
        return fail(Errc::bad_input, "col_idx[" + std::to_string(out_.edge_ids[k]) + "] is " +
                                         std::to_string(node) + "; expected 0 to " +
                                         std::to_string(graph_.cols - 1));
      columns[k] = node;
    }
    places_.reserve(std::min(nodes() + static_cast<std::int64_t>(end - begin), graph_.rows));
    for (std::size_t k = begin; k < end; ++k) {
      if (k + kAhead < end) places_.prefetch(columns[k + kAhead]);
      const std::int32_t node = columns[k];
      columns[k] = places_.place(node, nodes());
      if (columns[k] == nodes()) out_.node_ids.push_back(node);
    }
    return {};
  }

  // Sorts the columns of rows, with their edges.
  void sort_rows(std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto begin = at(out_.row_ptr[at(i)]), count = taken(i);
      const auto columns = std::span(out_.col_idx).subspan(begin, count);
      if (std::is_sorted(columns.begin(), columns.end())) continue;
      const auto edges = std::span(out_.edge_ids).subspan(begin, count);
      sorted_.resize(count);
      for (std::size_t k = 0; k < count; ++k) sorted_[k] = {columns[k], edges[k]};
      std::sort(sorted_.begin(), sorted_.end());
      for (std::size_t k = 0; k < count; ++k) std::tie(columns[k], edges[k]) = sorted_[k];
    }
  }

  const CsrView& graph_;
  const std::uint64_t seed_;
  NeighborSample out_;
  PlaceTable places_;
  std::vector<std::pair<std::int32_t, std::int64_t>> sorted_;
};

}  // namespace

Result<NeighborSample> sample_neighbors(const CsrView& graph, std::span<const std::int64_t> seeds,
                                        std::span<const std::int64_t> fan_outs, std::uint64_t seed) {
  if (graph.rows != graph.cols)
    return fail(Errc::usage, "the graph has " + std::to_string(graph.rows) + " rows and " +
                                 std::to_string(graph.cols) + " columns; neighbors require a square matrix");
  for (const std::int64_t fan_out : fan_outs)
    if (fan_out < 1 && fan_out != -1)
      return fail(Errc::usage,
                  "fan-out " + std::to_string(fan_out) + "; use 1 or more, or -1 for all neighbors");
  for (std::size_t i = 0; i < seeds.size(); ++i)
    if (seeds[i] < 0 || seeds[i] >= graph.rows)
      return fail(Errc::usage, "seed " + std::to_string(i) + " is node " + std::to_string(seeds[i]) +
                                   "; expected 0 to " + std::to_string(graph.rows - 1));
  if (static_cast<std::int64_t>(seeds.size()) > kMostNodes - graph.rows)
    return fail(Errc::unsupported, std::to_string(seeds.size()) + " seeds in a graph of " +
                                       std::to_string(graph.rows) +
                                       " nodes: a sample could have 2^31 nodes or more");
  return Sampler(graph, seed).run(seeds, fan_outs);
}

}  // namespace sptile::formats
