// The matrix to partition: a mapped bundle, or in memory.
#pragma once

#include <memory>
#include <string>

#include "runtime/bundle/bundle.hpp"
#include "tools/partition/row_source.hpp"
#include "tools/pipeline/input.hpp"

namespace sptile::tools {

/// A row source with the storage that `rows` borrows.
struct PartitionSource {
  std::shared_ptr<const runtime::Bundle> bundle;  ///< null: the matrix is in `loaded`
  LoadedMatrix loaded;
  RowSource rows;
};

/// Opens the matrix. Values have the type `options.dtype`; none: as in a bundle, f32 for other kinds. A
/// bundle with that type is mapped, and its rows are dropped from memory after use. With `in_order`, columns
/// are checked by the caller while reading in order; otherwise all are checked here. Errc::unsupported for a
/// matrix that is not square.
Result<PartitionSource> open_partition_source(Work& work, const std::string& path, LoadOptions options,
                                              bool in_order);

}  // namespace sptile::tools
