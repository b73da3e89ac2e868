// Additional arrays of a bundle that is one part of a partition, in the group "/part". See
// docs/reference/formats/partition.md.
#pragma once

#include <cstdint>

namespace sptile::formats {

inline constexpr const char* kPartGroup = "/part";
inline constexpr const char* kHaloMatrix =
    "halo";  ///< the second matrix; the first one, in the root group, is `local`

/// Arrays of the group.
inline constexpr const char* kPartId = "id";             ///< u64[1]: partition id
inline constexpr const char* kPartNumbers = "numbers";   ///< i64: PartNumbers
inline constexpr const char* kPartOldIds = "old_ids";    ///< i32[rows]: id in the whole matrix of each row
inline constexpr const char* kPartHaloIds = "halo_ids";  ///< i32[halo columns]: id in the whole matrix of
                                                         ///< each column of halo
inline constexpr const char* kPartSendOffset =
    "send_offset";  ///< i64[parts + 1]: offsets into send_rows, by receiver
inline constexpr const char* kPartSendRows = "send_rows";  ///< i32: rows of this part, ascending for each
                                                           ///< receiver
inline constexpr const char* kPartReceiveOffset =
    "receive_offset";  ///< i64[parts + 1]: offsets into the columns of halo, by owner

inline constexpr std::int64_t kPartLayoutVersion = 1;

/// Contents of "/part/numbers".
struct PartNumbers {
  std::int64_t version = kPartLayoutVersion;
  std::int64_t rank = 0;
  std::int64_t parts = 1;
  std::int64_t rows = 0;       ///< rows of the whole matrix, which is square
  std::int64_t entries = 0;    ///< nonzeros of the whole matrix
  std::int64_t symmetric = 0;  ///< 1: the whole matrix equals its transpose, and parts store no transpose
};
static_assert(sizeof(PartNumbers) == 6 * sizeof(std::int64_t));

}  // namespace sptile::formats
