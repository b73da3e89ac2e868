// Counts windows, groups and tiles for each window height.
#pragma once

#include <cstdint>

#include "formats/convert/tall_window.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/layout/tall_rules.hpp"

namespace sptile::formats {

/// Returns the totals for every height, scaled from a sample of about `entries` nonzeros; see TallSample.
/// Parallel; the same for any number of threads.
TallCounts count_tall_windows(const CsrView& a, std::int64_t entries = std::int64_t{1} << 22);

}  // namespace sptile::formats
