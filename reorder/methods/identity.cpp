#include "reorder/methods/identity.hpp"

#include <numeric>

namespace sptile::reorder {

Result<std::vector<std::int32_t>> order_identity(const formats::CsrView& a, const ReorderOptions& options) {
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace sptile::reorder
