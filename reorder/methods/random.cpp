#include "reorder/methods/random.hpp"

#include "formats/core/random.hpp"

namespace sptile::reorder {

Result<std::vector<std::int32_t>> order_randomly(const formats::CsrView& a, const ReorderOptions& options) {
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  return random_permutation(a.rows, RandomStream(options.seed));
}

}  // namespace sptile::reorder
