#include "reorder/registry.hpp"

#include "reorder/degree.hpp"
#include "reorder/identity.hpp"
#include "reorder/random.hpp"

namespace sptile::reorder {
namespace {
constexpr Reorderer kReorderers[] = {
    {"identity", "the order as it stands", false, order_identity},
    {"degree", "rows by descending number of entries", false, order_by_degree},
    {"random", "rows shuffled with --seed", false, order_randomly},
};
}

std::span<const Reorderer> reorderers() { return kReorderers; }

const Reorderer* find_reorderer(std::string_view name) {
  for (const Reorderer& row : kReorderers)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace sptile::reorder
