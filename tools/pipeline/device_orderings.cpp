#include "tools/pipeline/device_orderings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reorder/greedy_packing.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

using runtime::cuda::DeviceCsr;
using runtime::cuda::DeviceOrder;

Result<DeviceOrder> order_by_rabbit(const DeviceCsr& a, const reorder::ReorderOptions&) {
  return runtime::cuda::rabbit_on_device(a, nullptr);
}

Result<DeviceOrder> order_by_packing(const DeviceCsr& a, const reorder::ReorderOptions& options) {
  const auto greedy = reorder::only_greedy(options);
  return runtime::cuda::pack_on_device(a, {greedy->rules, greedy->degree_base}, nullptr);
}

constexpr DeviceOrdering kDeviceOrderings[] = {
    {"rabbit", "rabbit", [](const reorder::ReorderOptions&) { return true; }, order_by_rabbit},
    {"pack", "pack:fast",
     [](const reorder::ReorderOptions& options) { return reorder::only_greedy(options).has_value(); },
     order_by_packing}};

}  // namespace

std::span<const DeviceOrdering> device_orderings() { return kDeviceOrderings; }

const DeviceOrdering* find_device_ordering(std::string_view method, const reorder::ReorderOptions& options) {
  const auto* const found = std::ranges::find(kDeviceOrderings, method, &DeviceOrdering::method);
  return found == std::end(kDeviceOrderings) || !found->accepts(options) ? nullptr : found;
}

Result<DeviceAndHostOrder> order_on_device(Work& work, const DeviceOrdering& ordering, const DeviceCsr& a,
                                           const reorder::ReorderOptions& options) {
  const Stopwatch watch;
  auto made = ordering.run(a, options);
  if (!made) return tl::unexpected(made.error());
  DeviceAndHostOrder order{std::vector<std::int32_t>(static_cast<std::size_t>(a.rows)), std::move(*made)};
  const ArrayView rows(DType::i32, order.on_device.new_to_old, a.rows);
  if (Status s = runtime::cuda::download(a.ordinal, rows, order.new_to_old.data()); !s)
    return tl::unexpected(s.error());
  std::string steps;
  for (const runtime::cuda::OrderStep& step : order.on_device.steps)
    steps += fmt::format("{}{} {}", steps.empty() ? "" : ", ", step.name, human_seconds(step.seconds));
  work.detail(fmt::format("ordered on the device in {}: {}", human_seconds(watch.seconds()), steps));
  return order;
}

}  // namespace sptile::tools
