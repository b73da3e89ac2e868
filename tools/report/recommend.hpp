// Which order, format and kernel a report recommends, and why.
#pragma once

#include "tools/report/report.hpp"

namespace sptile::tools::report {

/// Fills in `report.advice`: the candidate with the least measured time; without measurements the least
/// predicted one; without predictions the one that moves the fewest bytes. The given order wins ties. Marks
/// the candidate as chosen.
void recommend(Report& report);

/// The candidate of `report.advice`, which must be there.
const runtime::Candidate& advised(const Report& report);
/// The order that it goes with.
const OrderTried& advised_order(const Report& report);
/// What it takes in memory.
const FormatRow& advised_size(const Report& report);

}  // namespace sptile::tools::report
