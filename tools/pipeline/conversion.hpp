// Reads, reorders, converts and writes: what `convert` and `reorder` do to make a bundle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/dtype.hpp"
#include "formats/core/parameters.hpp"
#include "formats/core/value_loss.hpp"
#include "tools/pipeline/convert_task.hpp"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

/// One format of the bundle.
struct FormatReport {
  std::string name;
  std::int64_t tc_blocks, index_bytes, value_bytes;
  double seconds;
  Parameters parameters;
  std::string why;  ///< where a parameter that was not typed comes from, with the profile's source
};

/// What A^T came to.
struct TransposeReport {
  bool reordered = false;
  OrderChoice order_choice;
  std::vector<FormatReport> formats;  ///< none where A is symmetric: they are those of A
};

struct ConvertReport {
  std::int64_t rows, cols, nnz, duplicates;
  formats::LossCounts lost;  ///< values that their type cannot hold
  std::vector<FormatReport> formats;
  double read = 0, reorder = 0, convert = 0, write = 0, total = 0;
  bool reordered = false;
  OrderChoice order_choice;
  bool symmetric = false;                    ///< A equals A^T, bit by bit
  std::optional<TransposeReport> transpose;  ///< where it was asked for
  DType dtype = DType::none;                 ///< of the values in the formats
  std::uint64_t file_bytes = 0;
  /// Of the process at its peak; of a dry run what it would have been, see convert.
  std::int64_t peak_memory = 0;
};

/// Bytes a second that a dry run takes the writing of a bundle for: a modest disk.
inline constexpr double kAssumedWriteRate = 500e6;

/// Sees the matrix in its original row order, the order found for it (empty: as it stands) and the seconds
/// that took, before anything is made from them.
using OrderObserver = std::function<Status(const formats::CsrView& a,
                                           std::span<const std::int32_t> new_to_old, double seconds)>;

/// Writes a bundle, whole or not at all. A dry run does everything else: sizes are those that the bundle
/// would have, times of all but writing are taken, `write` is at kAssumedWriteRate, and `peak_memory` has
/// room for the largest format twice more: one may wait to be written while the next is made, and memory that
/// was let go is not always found again.
Result<ConvertReport> convert(Work& work, const ConvertTask& task, const OrderObserver& observe = {});

}  // namespace sptile::tools
