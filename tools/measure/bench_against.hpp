// Compares the rows of `bench` with those of an earlier run on the same machine.
#pragma once

#include <string>

#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Compares rows that measured the same thing; the last of several old ones counts. A row is `slower`, or
/// `faster`, if its `ratio` (new over old time) differs from 1 by more than the noise_of all rows involved,
/// `noisy` if that noise exceeds kNoisySpread, else `same`. The ratio is over that of a yardstick, measured
/// in both runs with the same types of operands: the fastest kernel of cuSPARSE, else of csr; so a machine
/// that is faster or slower as a whole does not count. Rows without one take the median of all yardsticks on
/// the same device ("all"); where there is none, times are compared as they are.
///   rows        one for each pair: what it is, median_us, old_median_us, ratio, noise, verdict, yardstick
///   yardsticks  one for each that was used: what it is, median_us, old_median_us, ratio
///   slower, faster, only_old, only_new   numbers of rows
///   hosts       names of the machines, of both runs
Json compare_runs(const Json& old_rows, const Json& new_rows);

/// Says how many rows are slower and faster, and lists them. `name`: of the earlier run.
std::string against_text(const Json& comparison, const std::string& name);

}  // namespace sptile::tools
