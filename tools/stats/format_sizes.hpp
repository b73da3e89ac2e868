// What a matrix takes in every format, and what a product with it asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/csr_view.hpp"
#include "tools/cli/result.hpp"
#include "tools/pipeline/work.hpp"
#include "tools/stats/core_shares.hpp"

namespace sptile::tools {

struct FormatRow {
  std::string name;
  bool stored = false;  ///< sptile has it; the others are for comparison
  std::int64_t tc_blocks = 0, index_bytes = 0, value_bytes = 0;
  std::string refused = {};     ///< why the matrix does not fit
  std::int64_t tc_entries = 0;  ///< in the blocks
  std::int64_t fetches = 0;     ///< rows of B that a product asks for
  std::optional<CoreShares> shares = {};
};

/// Entries of a block, in the mean; 0 without blocks.
double mean_per_block(const FormatRow& row);

/// Sees each format that sptile has, as long as it is there.
using FormatObserver = std::function<Status(const formats::FormatView& format)>;

/// Makes a format of `a`.
using FormatMaker = std::function<Result<formats::FormatData>(const formats::Converter& converter,
                                                              const formats::CsrView& a)>;

/// Converts to every format, one at a time, and keeps the sizes. `make` replaces Converter::from_csr.
Result<std::vector<FormatRow>> measure_formats(Work& work, const formats::CsrView& a,
                                               const FormatObserver& observe = {},
                                               const FormatMaker& make = {});

Json to_json(const std::vector<FormatRow>& rows);

}  // namespace sptile::tools
