// Costs of a division of a matrix per part, and the rows that parts need of each other.
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
  std::int64_t local_entries = 0;  ///< in columns of the part
  std::int64_t halo_entries = 0;   ///< in columns of other parts
  std::int64_t received = 0;       ///< rows received per product: columns of halo
  std::int64_t sent = 0;           ///< rows sent, once per receiving part
  std::int64_t senders = 0;        ///< number of parts that it receives from
  std::int64_t receivers = 0;      ///< number of parts that it sends to

  [[nodiscard]] std::int64_t entries() const { return local_entries + halo_entries; }
};

struct Survey {
  std::vector<PartCounts> parts;
  std::vector<PlaceSet> needed;  ///< positions of other parts that each part needs
  PlaceSet boundary;             ///< positions of the rows with entries in columns of other parts
  Digest digest;
};

/// Reads the matrix once, part by part. Errc::bad_input names a row whose columns are not ascending or out of
/// range. Memory: the sets, and two bits per row.
Result<Survey> survey_parts(const RowSource& source, const reorder::Division& division, Progress* progress);

/// Orders the rows of each part: interior rows, which have no entries in columns of other parts, then
/// boundary rows. Both keep their order. Renumbers the positions of the survey. O(rows + positions of the
/// sets).
void put_boundary_last(reorder::Division& division, Survey& survey);

/// Totals over the parts.
struct Totals {
  std::int64_t entries = 0, halo_entries = 0;
  std::int64_t volume = 0;        ///< rows sent by all parts
  std::int64_t largest_send = 0;  ///< maximum over parts
  double imbalance = 1;           ///< maximum entries of a part over the mean; 1 without entries

  [[nodiscard]] double halo_share() const {
    return entries == 0 ? 0 : static_cast<double>(halo_entries) / static_cast<double>(entries);
  }
};

Totals totals_of(const std::vector<PartCounts>& parts);

}  // namespace sptile::tools
