// The two matrices of a part, and its lists.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr.hpp"
#include "reorder/partition/division.hpp"
#include "tools/partition/survey.hpp"

namespace sptile::tools {

/// Returns the rows and columns of the part, both numbered within the part. O(entries of the part), parallel.
formats::Csr local_matrix(const formats::CsrView& a, const reorder::Division& division, std::int32_t part);

/// Returns the rows of the part with the columns of other parts that they need, ordered by owner and then as
/// in the owner.
formats::Csr halo_matrix(const formats::CsrView& a, const reorder::Division& division, std::int32_t part,
                         const PlaceSet& needed);

/// See runtime::Part.
struct PartLists {
  std::vector<std::int32_t> old_ids, halo_ids, send_rows;
  std::vector<std::int64_t> send_offset, receive_offset;
};

PartLists part_lists(const reorder::Division& division, const Survey& survey, std::int32_t part);

}  // namespace sptile::tools
