// Measured choices that this machine keeps, so that the same matrix is measured once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/layout/format_layout.hpp"
#include "runtime/operation/operation.hpp"
#include "runtime/plan/held_format.hpp"

namespace sptile::runtime {

/// A format and a kernel that were measured to be the fastest.
struct RememberedChoice {
  std::string format, kernel;
};

/// File and key of a choice. Without a file name, it is not kept.
struct ChoicePlace {
  std::string file;
  std::uint64_t key = 0;
};

/// Returns the place of the choice among kernels of `layouts`, of which `held` is the first. The key is a
/// hash of what the fastest plan depends on: device, operation and its kernels, sizes, types, attributes,
/// formats, and the cost features of `held`, which describe the matrix. The file is choices-DEVICE.tsv in
/// $SPTILE_CACHE, otherwise in $XDG_CACHE_HOME/sptile, otherwise in ~/.cache/sptile. There is none if no
/// variable is set, SPTILE_CACHE is "off", or no kernel of `held` can run.
ChoicePlace choice_place(const Operation& op, const HeldFormat& held,
                         std::span<const formats::FormatLayout* const> layouts, const PlanOptions& options);

/// Returns the choice that was stored last; nullopt if there is none or the file cannot be read.
/// Names are unverified.
std::optional<RememberedChoice> recall(const ChoicePlace& place);

/// Appends a choice and creates directories. A file of more than 1 MiB is replaced. Failures are ignored: the
/// choice is then measured again.
void remember(const ChoicePlace& place, const RememberedChoice& choice);

}  // namespace sptile::runtime
