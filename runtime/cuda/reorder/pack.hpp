// The packing of rows in steps, which run on a device and, in tests, on the host.
#pragma once

#include <utility>
#include <vector>

#include "runtime/cuda/device_order.hpp"
#include "runtime/cuda/reorder/block_counts.hpp"
#include "runtime/cuda/reorder/greedy.hpp"
#include "runtime/cuda/reorder/order_timer.hpp"

namespace sptile::runtime::cuda {

/// Returns the denser of two orders, as reorder::order_by_packing; `order` if they are equal.
template <class Run>
Result<std::vector<std::int32_t>> denser(Run& run, const DeviceCsr& a, std::vector<std::int32_t>&& order,
                                         std::vector<std::int32_t>&& other, int height) {
  const auto of_order = pack::count_blocks(run, a, order, height);
  if (!of_order) return tl::unexpected(of_order.error());
  const auto of_other = pack::count_blocks(run, a, other, height);
  if (!of_other) return tl::unexpected(of_other.error());
  const bool as_dense = of_order->blocks <= of_other->blocks && of_order->twice <= of_other->twice;
  return as_dense ? std::move(order) : std::move(other);
}

/// Implements pack_on_device.
template <class Run>
Result<DeviceOrder> pack_on(Run& run, DeviceCsr a, const PackParameters& parameters) {
  if (Status s = check_device_csr(a, "pack"); !s) return tl::unexpected(s.error());
  if (a.row_order != nullptr)
    return fail(Errc::usage, "pack: row_order must be null; the result is an order of the original rows");
  if (Status s = check_on(run, a); !s) return tl::unexpected(s.error());
  a.checked = true;
  a.values = nullptr;
  a.value_dtype = DType::none;
  DeviceOrder made;
  OrderTimer timer(made.steps);
  Workspace<rabbit::ColumnIds> compact, frequent;
  if (Status s = rabbit::renumber_columns(run, a, compact); !s) return tl::unexpected(s.error());
  const auto hubs = pack::frequent_first(run, a, parameters.rules.longest_list, frequent);
  if (!hubs) return tl::unexpected(hubs.error());
  const bool by_degree = packing::starts_by_degree(parameters.degree_base, *hubs);
  auto base = pack::base_order(run, a, by_degree);
  if (!base) return tl::unexpected(base.error());
  std::vector<std::int32_t> order;
  {
    Workspace<pack::BaseParts> gathered;
    const auto rows = pack::gather(run, a, *base, gathered);
    if (!rows) return tl::unexpected(rows.error());
    timer.end("rows in base order");
    auto packed = pack::Greedy<Run>(run, *rows, parameters.rules).pack();
    if (!packed) return tl::unexpected(packed.error());
    order = std::move(*packed);
    run.wait();
  }
  for (std::int32_t& row : order) row = (*base)[static_cast<std::size_t>(row)];
  order.insert(order.end(), base->begin() + std::ssize(order), base->end());
  timer.end("windows");
  if (*hubs) {
    auto degrees = by_degree ? std::move(base) : pack::base_order(run, a, true);
    if (!degrees) return tl::unexpected(degrees.error());
    auto best = denser(run, a, std::move(order), std::move(*degrees), parameters.rules.window_rows);
    if (!best) return tl::unexpected(best.error());
    order = std::move(*best);
    timer.end("comparison with degree order");
  }
  auto memory = run.allocate(order.size() * sizeof(std::int32_t), "the row order");
  if (!memory) return tl::unexpected(memory.error());
  made.memory = std::move(*memory);
  auto* const new_to_old = reinterpret_cast<std::int32_t*>(made.memory.get());
  run.upload(new_to_old, order.data(), a.rows);
  run.wait();
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  made.new_to_old = new_to_old;
  return made;
}

}  // namespace sptile::runtime::cuda
