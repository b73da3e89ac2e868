// Comparison of the rows of `bench` with those of an earlier run on the same machine.
#pragma once

#include <string>

#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Compares rows with equal keys; of several old ones, the last. A row is `slower` or `faster` if its `ratio`
/// (new over old time) differs from 1 by more than the noise_of all involved rows, `noisy` if that noise
/// exceeds kNoisySpread, else `same`. The ratio is normalized by that of a reference row measured in both
/// runs with the same operand types: the fastest kernel of cuSPARSE, else of csr. This cancels differences of
/// the entire machine. Rows without a reference use the median of all references on the same device ("all");
/// without any, times are compared directly.
///   rows        one per pair: key, median_us, old_median_us, ratio, noise, verdict, yardstick
///   yardsticks  one per used reference: key, median_us, old_median_us, ratio
///   slower, faster, only_old, only_new   numbers of rows
///   hosts       names of the machines, of both runs
Json compare_runs(const Json& old_rows, const Json& new_rows);

/// Returns the number of slower and faster rows, with a list of them. `name` is that of the earlier run.
std::string against_text(const Json& comparison, const std::string& name);

}  // namespace sptile::tools
