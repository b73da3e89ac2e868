// Summary of a suite: geometric means of speedups for each experiment, and what is missing.
#pragma once

#include <span>
#include <string>

#include "tools/suite/suite_plan.hpp"

namespace sptile::tools {

/// Name of the line with the fastest kernels of sptile.
inline constexpr std::string_view kFastestKnown = "fastest known";

/// Summarizes the rows of each experiment. `over_baseline` and `over_other` are geometric means over the
/// matrices of the speedup over the baseline and over the fastest other variant, including cuSPARSE; null if
/// not measured. `fastest` is the number of matrices on which the variant is faster than all others. A matrix
/// counts if all compared times are known and not noisy. One element per experiment, N and variant; several N
/// also have one with `n` null for all.
Json summarize(const SuitePlan& plan, const Json& rows);

/// Returns the tables of summarize.
std::string summary_text(const Json& summary);

Json to_json(std::span<const Missing> missing);
/// Returns one line per missing part.
std::string missing_text(std::span<const Missing> missing);

}  // namespace sptile::tools
