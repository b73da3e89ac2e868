// The entire matrix, joined from the parts of a partition.
#pragma once

#include <string>

#include "runtime/bundle/part.hpp"
#include "runtime/handle/matrix.hpp"

namespace sptile::runtime {

/// Returns the rows of all parts in a folder in the order of the entire matrix, with the value type of the
/// parts. Reads all parts except `own`. Errors as for open_part; Errc::bad_input, which names the file or the
/// row, unless all parts are of one partition and in order, and each row has one owner;
/// Errc::device without memory. O(rows + entries).
Result<HostCsr> join_parts(const Part& own, const std::string& folder);

}  // namespace sptile::runtime
