// The rabbit ordering in steps, which run on a device and, in tests, on the host.
#pragma once

#include <string>

#include "runtime/cuda/device_order.hpp"
#include "runtime/cuda/reorder/columns.hpp"
#include "runtime/cuda/reorder/communities.hpp"
#include "runtime/cuda/reorder/graph.hpp"
#include "runtime/cuda/reorder/order_timer.hpp"
#include "runtime/cuda/reorder/preorder.hpp"

namespace sptile::runtime::cuda {

/// Space for stored links, half of the graph's links and a minimum, as on the CPU. Tests use less.
constexpr std::int64_t usual_stored_links(std::int64_t links) { return links / 2 + (1 << 20); }

/// Implements rabbit_on_device. stored_links: maps the graph's links to the initial space for stored links.
/// `counts` receives the work of the search for communities; may be null.
template <class Run, class StoredLinks>
Result<DeviceOrder> rabbit_on(Run& run, DeviceCsr a, const StoredLinks& stored_links,
                              rabbit::MergeCounts* counts = nullptr) {
  if (Status s = check_device_csr(a, "rabbit"); !s) return tl::unexpected(s.error());
  if (a.row_order != nullptr)
    return fail(Errc::usage, "rabbit: row_order must be null; the result is an order of the original rows");
  if (Status s = check_on(run, a); !s) return tl::unexpected(s.error());
  a.checked = true;
  DeviceOrder made;
  OrderTimer timer(made.steps);
  Workspace<rabbit::ColumnIds> ids;
  if (Status s = rabbit::renumber_columns(run, a, ids); !s) return tl::unexpected(s.error());
  const auto owned = rabbit::graph_on(run, a);
  if (!owned) return tl::unexpected(owned.error());
  timer.end("graph");
  const rabbit::DeviceGraph& graph = owned->graph;
  rabbit::Aggregation<Run> aggregation(run, graph, stored_links(graph.links));
  rabbit::MergeCounts merges;
  const auto forest = aggregation.merge(merges);
  if (!forest) return tl::unexpected(forest.error());
  run.wait();
  timer.end(std::to_string(merges.rounds) + " rounds of merges");
  if (counts != nullptr) *counts = merges;
  auto memory = run.allocate(static_cast<std::size_t>(a.rows) * sizeof(std::int32_t), "the row order");
  if (!memory) return tl::unexpected(memory.error());
  made.memory = std::move(*memory);
  auto* const new_to_old = reinterpret_cast<std::int32_t*>(made.memory.get());
  if (Status s = rabbit::write_rows(run, *forest, graph, a, new_to_old); !s) return tl::unexpected(s.error());
  made.new_to_old = new_to_old;
  timer.end("order");
  return made;
}

}  // namespace sptile::runtime::cuda
