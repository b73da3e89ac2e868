#include "reorder/partition/methods.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "reorder/methods/compacted.hpp"
#include "reorder/methods/pack.hpp"
#include "reorder/partition/k_way.hpp"
#include "reorder/partition/largest_send.hpp"

namespace sptile::reorder {
namespace {

Result<Division> cut_rows(const formats::CsrView& a, std::int32_t parts, const PartitionOptions&) {
  return divide_in_order(a, {}, parts);
}

Result<Division> cut_packed(const formats::CsrView& a, std::int32_t parts, const PartitionOptions& options) {
  auto order = compacted<order_by_packing>(a, {.seed = options.seed, .progress = options.progress});
  if (!order) return tl::unexpected(std::move(order.error()));
  const Division shares = divide_in_order(a, *order, parts);
  std::vector<std::int32_t> part(static_cast<std::size_t>(a.rows));
  for (std::int32_t p = 0; p < parts; ++p)
    for (std::int64_t at = shares.first(p); at < shares.last(p); ++at)
      part[static_cast<std::size_t>(shares.row_at(at))] = p;
  bound_largest_send(a, parts, part);
  return divide_by_part(part, parts, *order);
}

Result<Division> cut_graph(const formats::CsrView& a, std::int32_t parts, const PartitionOptions& options) {
  auto part = k_way_parts(a, parts, options);
  if (!part) return tl::unexpected(std::move(part.error()));
  return divide_by_part(*part, parts);
}

constexpr PartitionMethod kMethods[] = {
    {"metis", "k-way partition by METIS for low communication, with a bound on the largest sender", false,
     cut_graph},
    {"rows", "contiguous rows in the original order, balanced by entries; for matrices of any size", true,
     cut_rows},
    {"pack", "contiguous rows in pack order, balanced by entries, with a bound on the largest sender", false,
     cut_packed},
};

}  // namespace

std::span<const PartitionMethod> partition_methods() { return kMethods; }

const PartitionMethod* find_partition_method(std::string_view name) {
  const auto* const row = std::ranges::find(kMethods, name, &PartitionMethod::name);
  return row == std::end(kMethods) ? nullptr : row;
}

}  // namespace sptile::reorder
