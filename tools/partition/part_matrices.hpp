// The two matrices of a part, and its lists.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr.hpp"
#include "reorder/partition/division.hpp"
#include "tools/partition/survey.hpp"

namespace sptile::tools {

/// Rows of the part, columns of the part, both numbered as in the part. O(entries of the part), parallel.
formats::Csr local_matrix(const formats::CsrView& a, const reorder::Division& division, std::int32_t part);

/// Rows of the part, and the columns of others that they need, by owner and then as the owner has them.
formats::Csr halo_matrix(const formats::CsrView& a, const reorder::Division& division, std::int32_t part,
                         const PlaceSet& needed);

/// See runtime::Part.
struct PartLists {
  std::vector<std::int32_t> old_ids, halo_ids, send_rows;
  std::vector<std::int64_t> send_offset, receive_offset;
};

PartLists part_lists(const reorder::Division& division, const Survey& survey, std::int32_t part);

}  // namespace sptile::tools
