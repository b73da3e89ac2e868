// A matrix whose rows are read once or twice, and not kept.
#pragma once

#include <cstdint>
#include <functional>

#include "formats/core/csr_view.hpp"

namespace sptile::tools {

struct RowSource {
  formats::CsrView a;  ///< row pointers sound; columns perhaps not looked at yet
  /// Called with rows [first, last) that are not read again soon: a mapped file need not stay in memory. May
  /// be empty.
  std::function<void(std::int64_t first, std::int64_t last)> release = {};

  void done_with(std::int64_t first, std::int64_t last) const {
    if (release) release(first, last);
  }
};

}  // namespace sptile::tools
