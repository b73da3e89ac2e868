// Recommendation of an order, format and kernel, with reasons.
#pragma once

#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// Sets `report.advice` to the candidate with the minimum measured time, without measurements the minimum
/// predicted time, and without predictions the fewest bytes. The given order wins ties. Marks the candidate
/// as chosen.
void recommend(Report& report);

/// Returns the candidate of `report.advice`, which must be set.
const runtime::Candidate& advised(const Report& report);
/// Returns the order of that candidate.
const OrderTried& advised_order(const Report& report);
/// Returns the size of its format.
const FormatRow& advised_size(const Report& report);

}  // namespace sptile::tools::report
