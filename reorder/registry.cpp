#include "reorder/registry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>

#include "reorder/methods/affinity.hpp"
#include "reorder/methods/auto.hpp"
#include "reorder/methods/compacted.hpp"
#include "reorder/methods/degree.hpp"
#include "reorder/methods/identity.hpp"
#include "reorder/methods/loa.hpp"
#include "reorder/methods/lsh.hpp"
#include "reorder/methods/metis.hpp"
#include "reorder/methods/pack.hpp"
#include "reorder/methods/rabbit.hpp"
#include "reorder/methods/random.hpp"
#include "reorder/methods/rcm.hpp"
#include "reorder/methods/wjaccard.hpp"

namespace sptile::reorder {
namespace {
// Orderings with compact columns keep arrays indexed by column. lsh has no such array, and hashes the ids.
constexpr Reorderer kReorderers[] = {
    {"identity", "original order", order_identity},
    {"degree", "rows by descending number of entries", order_by_degree},
    {"random", "rows shuffled with --seed", order_randomly},
    {"rcm", "reverse Cuthill-McKee: small bandwidth", compacted<order_by_rcm>},
    {"metis", "rows grouped by k-way partition", compacted<order_by_metis>, kMetisParameters},
    {"metis-nd", "nested dissection", compacted<order_by_dissection>},
    {"lsh", "clusters of rows that share minhash buckets (DTC-SpMM)", order_by_lsh, kLshParameters},
    {"rabbit", "rows grouped by modularity communities (Rabbit Order)", compacted<order_by_rabbit>},
    {"affinity", "communities, then rows with common columns (Acc-SpMM)", compacted<order_by_affinity>,
     kAffinityParameters},
    {"loa",
     "windows filled for entries per column from a sliding list (HyGNN)",
     compacted<order_by_loa>,
     kLoaParameters,
     {},
     true},
    {"wjaccard", "a path through the most similar rows (RSH-SpMM)", compacted<order_by_weighted_jaccard>,
     kWJaccardParameters},
    {"pack", "windows packed, matched and refined for few distinct columns", compacted<order_by_packing>,
     kPackParameters, kPackPresets, true},
    {"auto", "best of original order, degree and greedy windows", compacted<order_by_trial>, {}, {}, true},
};

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), value).ptr};
}
}  // namespace

std::span<const Reorderer> reorderers() { return kReorderers; }

const Reorderer* find_reorderer(std::string_view name) {
  for (const Reorderer& row : kReorderers)
    if (row.name == name) return &row;
  return nullptr;
}

const Preset* find_preset(const Reorderer& method, std::string_view name) {
  for (const Preset& preset : method.presets)
    if (preset.name == name) return &preset;
  return nullptr;
}

Status check_settings(const Reorderer& method, std::span<const Setting> settings) {
  for (const Setting& given : settings) {
    const auto parameter = std::find_if(method.parameters.begin(), method.parameters.end(),
                                        [&](const Parameter& p) { return p.name == given.name; });
    if (parameter == method.parameters.end()) {
      std::string known;
      for (const Parameter& p : method.parameters) known.append(known.empty() ? "" : ", ").append(p.name);
      return fail(Errc::usage, std::string(method.name) + " has no parameter " + std::string(given.name) +
                                   (known.empty() ? "; it has none" : "; it has: " + known));
    }
    const bool fits = given.value >= parameter->min && given.value <= parameter->max;
    if (!fits || (parameter->whole && given.value != std::floor(given.value)))
      return fail(Errc::usage, std::string(method.name) + ": " + std::string(given.name) + " requires " +
                                   (parameter->whole ? "an integer" : "a number") + " from " +
                                   number(parameter->min) + " to " + number(parameter->max));
  }
  return {};
}

}  // namespace sptile::reorder
