// A matrix whose rows are read once or twice, and not stored.
#pragma once

#include <cstdint>
#include <functional>

#include "formats/core/csr_view.hpp"

namespace sptile::tools {

struct RowSource {
  formats::CsrView a;  ///< valid row offsets; columns may be unchecked
  /// Called with rows [first, last) that are not read again soon, so that mapped pages can be dropped. May be
  /// empty.
  std::function<void(std::int64_t first, std::int64_t last)> release = {};

  void done_with(std::int64_t first, std::int64_t last) const {
    if (release) release(first, last);
  }
};

}  // namespace sptile::tools
