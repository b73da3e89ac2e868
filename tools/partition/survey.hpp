// What a division of a matrix costs, part by part, and what the parts need of each other.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "reorder/partition/division.hpp"
#include "tools/partition/digest.hpp"
#include "tools/partition/place_set.hpp"
#include "tools/partition/row_source.hpp"

namespace sptile::tools {

struct PartCounts {
  std::int64_t rows = 0;
  std::int64_t local_entries = 0;  ///< in columns of the part's own rows
  std::int64_t halo_entries = 0;   ///< in columns of others
  std::int64_t received = 0;       ///< rows that arrive for one product: columns of halo
  std::int64_t sent = 0;           ///< rows that leave, once for each part that needs them
  std::int64_t senders = 0;        ///< parts that something arrives from
  std::int64_t receivers = 0;      ///< parts that get something

  [[nodiscard]] std::int64_t entries() const { return local_entries + halo_entries; }
};

struct Survey {
  std::vector<PartCounts> parts;
  std::vector<PlaceSet> needed;  ///< places of others that each part needs
  Digest digest;
};

/// Reads the matrix once, part by part. Errc::bad_input names a row whose columns are not ascending or out of
/// range. Memory: the sets, and one bit a row.
Result<Survey> survey_parts(const RowSource& source, const reorder::Division& division, Progress* progress);

/// What the parts come to together.
struct Totals {
  std::int64_t entries = 0, halo_entries = 0;
  std::int64_t volume = 0;        ///< rows that are sent, over all parts
  std::int64_t largest_send = 0;  ///< of one part
  double imbalance = 1;           ///< entries of the part with most, over the mean; 1 without entries

  [[nodiscard]] double halo_share() const {
    return entries == 0 ? 0 : static_cast<double>(halo_entries) / static_cast<double>(entries);
  }
};

Totals totals_of(const std::vector<PartCounts>& parts);

}  // namespace sptile::tools
