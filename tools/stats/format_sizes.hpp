// Size of a matrix in every format, and loads of a product.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/csr_view.hpp"
#include "tools/cli/result.hpp"
#include "tools/pipeline/format_choice.hpp"
#include "tools/pipeline/work.hpp"
#include "tools/stats/core_shares.hpp"

namespace sptile::tools {

struct FormatRow {
  std::string name;
  bool stored = false;  ///< a format of sptile; the others are for comparison
  std::int64_t tc_blocks = 0, index_bytes = 0, value_bytes = 0;
  std::string refused = {};       ///< reason why the matrix cannot be converted
  std::int64_t tc_entries = 0;    ///< entries in blocks
  std::int64_t loads = 0;         ///< rows of B that a product loads
  std::int64_t tc_windows = 0;    ///< windows with blocks; segments of a split window count once
  std::int64_t tc_positions = 0;  ///< positions of all blocks: rows times columns
  std::optional<CoreShares> shares = {};
};

/// Returns the mean number of entries per block; 0 without blocks.
double mean_per_block(const FormatRow& row);

/// Returns the sizes of formats that sptile does not store: COO, CSR with 32-bit row pointers, and TCF.
std::vector<FormatRow> comparison_rows(const formats::CsrView& a);

/// Converts to a format and returns its size; row.refused is set if the matrix cannot be converted.
Result<FormatRow> measure_format(Work& work, const formats::CsrView& a, const FormatChoice& format);

/// Called with each format of sptile while it is in memory.
using FormatObserver = std::function<Status(const formats::FormatView& format)>;

/// Converts `a` to a format.
using FormatMaker = std::function<Result<formats::FormatData>(const formats::Converter& converter,
                                                              const formats::CsrView& a)>;

/// Converts to every format, one at a time, and returns the sizes. `make` replaces Converter::from_csr.
Result<std::vector<FormatRow>> measure_formats(Work& work, const formats::CsrView& a,
                                               const FormatObserver& observe = {},
                                               const FormatMaker& make = {});

/// Returns the documented keys of each row. over_coo and over_tcf are relative to the rows "coo" and "tcf",
/// and null without them.
Json to_json(const std::vector<FormatRow>& rows);

}  // namespace sptile::tools
