// Conversion to a bundle, for `convert` and `reorder`: read, reorder, convert, write.
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
  std::string why;  ///< origin of a parameter that was chosen automatically, with the profile's source
};

/// Results of the transpose.
struct TransposeReport {
  bool reordered = false;
  OrderChoice order_choice;
  std::vector<FormatReport> formats;  ///< empty if A is symmetric: its formats are shared
};

struct ConvertReport {
  std::int64_t rows, cols, nnz, duplicates;
  formats::LossCounts lost;  ///< values that their type cannot represent
  std::vector<FormatReport> formats;
  double read = 0, reorder = 0, convert = 0, write = 0, total = 0;
  bool reordered = false;
  OrderChoice order_choice;
  bool symmetric = false;                    ///< A equals A^T, bit by bit
  std::optional<TransposeReport> transpose;  ///< if requested
  DType dtype = DType::none;                 ///< type of the values in the formats
  std::uint64_t file_bytes = 0;
  /// Peak memory of the process in bytes; for a dry run the estimate of a real run, see convert.
  std::int64_t peak_memory = 0;
};

/// Write rate in bytes per second that a dry run assumes: a slow disk.
inline constexpr double kAssumedWriteRate = 500e6;

/// Called with the matrix in original row order, its new order (empty: unchanged) and the seconds of the
/// ordering, before formats are created.
using OrderObserver = std::function<Status(const formats::CsrView& a,
                                           std::span<const std::int32_t> new_to_old, double seconds)>;

/// Writes a complete bundle, or none on errors. A dry run does everything except writing: sizes are exact,
/// times are measured, `write` is computed from kAssumedWriteRate, and `peak_memory` includes twice the
/// largest format, because one may be written while the next is created, and freed memory may be fragmented.
Result<ConvertReport> convert(Work& work, const ConvertTask& task, const OrderObserver& observe = {});

}  // namespace sptile::tools
