// Memory for the sums of links that vertices store.
#pragma once

#include <algorithm>
#include <utility>

#include "runtime/cuda/reorder/vertices.hpp"

namespace sptile::runtime::cuda::rabbit {

struct ArenaParts {
  WeightedLink* links = nullptr;

  void place(Arena& arena, std::int64_t count) { arena.take(links, count); }
};

/// Marks vertices.
struct MarkVertices {
  const std::int32_t* vertices;
  std::uint8_t* marked;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { marked[vertices[i]] = 1; }
};

/// Measures the stored links of vertices that will choose.
struct MeasureWaiting {
  Vertices x;
  const std::uint8_t* waiting;
  std::int64_t vertices;
  std::int64_t* sizes;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    sizes[v] = v < vertices && waiting[v] != 0 && x.list_size[v] > 0 ? x.list_size[v] : 0;
  }
};

/// Measures those of children that their parents will read.
struct MeasureUnread {
  Vertices x;
  const std::int32_t* children;
  const std::uint8_t* waiting;
  std::int64_t* sizes;

  SPTILE_HOST_DEVICE void operator()(std::int64_t merge) const {
    const std::int32_t v = children[merge], parent = x.parent[v];
    if (waiting[parent] != 0 && merge >= x.kept_at[parent] && x.list_size[v] > 0) sizes[v] = x.list_size[v];
  }
};

struct CopyLinks {
  Vertices x;
  OffsetRows<std::int64_t> by_vertex;
  const WeightedLink* from;
  WeightedLink* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    by_vertex.visit_apart(
        step, [&](std::int64_t i, std::int64_t v) { to[i] = from[x.list[v] + i - by_vertex.row_ptr[v]]; });
  }
};

struct MoveLists {
  Vertices x;
  const std::int64_t* first;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    if (first[v + 1] != first[v]) x.list[v] = first[v];
  }
};

struct CompactWorkspace {
  std::uint8_t* waiting = nullptr;
  std::int64_t* first = nullptr;

  void place(Arena& arena, std::int64_t vertices) {
    arena.take(waiting, vertices);
    arena.take(first, vertices + 1);
  }
};

/// Vertices that will choose again, or for the first time.
struct Waiting {
  const std::int32_t *deferred, *later;
  std::int64_t deferred_count, later_count;
};

/// Links are appended. When the memory is full, those that are no longer needed are dropped.
class LinkMemory {
 public:
  explicit LinkMemory(std::int64_t capacity) : usual_(capacity) {}

  [[nodiscard]] WeightedLink* links() const { return memory_.links; }
  [[nodiscard]] std::int64_t used() const { return used_; }
  void use(std::int64_t count) { used_ += count; }

  /// Provides space for `count` more links. Synchronizes if links are dropped.
  template <class Run>
  Status reserve(Run& run, std::int64_t count, const Vertices& x, std::int64_t vertices, const Merges& merges,
                 std::int64_t merge_count, const Waiting& waiting) {
    if (used_ + count <= capacity_) return {};
    if (capacity_ == 0) return grow(run, std::max(usual_, count), memory_);
    Workspace<CompactWorkspace> work;
    if (Status s = work.make(run, vertices); !s) return s;
    run.clear(work.waiting, static_cast<std::size_t>(vertices));
    run.each(waiting.deferred_count, MarkVertices{waiting.deferred, work.waiting});
    run.each(waiting.later_count, MarkVertices{waiting.later, work.waiting});
    run.each(vertices + 1, MeasureWaiting{x, work.waiting, vertices, work.first});
    run.each(merge_count, MeasureUnread{x, merges.child, work.waiting, work.first});
    run.sum(work.first, vertices + 1);
    std::int64_t live = 0;
    run.download(&live, work.first + vertices, 1);
    if (Status s = run.status(); !s) return s;
    Workspace<ArenaParts> moved;
    if (Status s = grow(run, std::max(capacity_, live + std::max(count, live / 2)), moved); !s) return s;
    const OffsetRows<std::int64_t> by_vertex{work.first, vertices, live};
    run.each(by_vertex.steps_apart(), CopyLinks{x, by_vertex, memory_.links, moved.links});
    run.each(vertices, MoveLists{x, work.first});
    memory_ = std::move(moved);
    used_ = live;
    return run.status();
  }

 private:
  template <class Run>
  Status grow(Run& run, std::int64_t capacity, Workspace<ArenaParts>& memory) {
    capacity_ = capacity;
    return memory.make(run, capacity);
  }

  Workspace<ArenaParts> memory_;
  std::int64_t usual_, capacity_ = 0, used_ = 0;
};

}  // namespace sptile::runtime::cuda::rabbit
