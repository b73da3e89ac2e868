// The matrix that is divided: mapped where it is a bundle, else in memory.
#pragma once

#include <memory>
#include <string>

#include "runtime/bundle/bundle.hpp"
#include "tools/partition/row_source.hpp"
#include "tools/pipeline/input.hpp"

namespace sptile::tools {

/// Keeps what `rows` borrows.
struct PartitionSource {
  std::shared_ptr<const runtime::Bundle> bundle;  ///< null: `loaded` has it
  LoadedMatrix loaded;
  RowSource rows;
};

/// Opens the matrix. Values are of `options.dtype`; none: those of a bundle, f32 of other kinds. A bundle
/// that has them is mapped, and its rows leave memory when they are done with; where `in_order` is true its
/// columns are left to who reads them in order, else all are checked here. Errc::unsupported for a matrix
/// that is not square.
Result<PartitionSource> open_partition_source(Work& work, const std::string& path, LoadOptions options,
                                              bool in_order);

}  // namespace sptile::tools
