// Row orders as the verbs use them: what the user asks for, checked, then computed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/parameters.hpp"
#include "reorder/registry.hpp"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

/// Window heights that orderings may be told to aim at.
inline constexpr int kLeastWindowRows = 1, kMostWindowRows = 1024;
inline constexpr int kUsualWindowRows = 8;  ///< where nothing else is said

/// How to order rows, as typed.
struct OrderRequest {
  std::string method = "identity", preset;
  std::vector<std::string> settings;   ///< "name=value"
  int window_rows = kUsualWindowRows;  ///< 0: nothing is said
};

/// A method with checked settings; names live as long as the table of methods.
struct Ordering {
  const reorder::Reorderer* method = nullptr;
  const reorder::Preset* preset = nullptr;  ///< nullptr: none
  std::vector<reorder::Setting> given;      ///< by --set, they win over those of the preset
  int window_rows = kUsualWindowRows;
  std::string typed;  ///< as options: "pack --preset fast --set swaps=2"

  /// "pack", "pack:fast", "pack:fast(swaps=2)".
  [[nodiscard]] std::string label() const;
};

/// Checks what was typed, whose method may name its preset, "pack:fast"; Errc::usage names what is unknown or
/// out of range, and what the method takes.
Result<Ordering> resolve_order(const OrderRequest& typed);

/// The same for "METHOD[:PRESET],...", or "all", in request.method. --preset and --set then go to the methods
/// of the list that have them, which must be one at least.
Result<std::vector<Ordering>> resolve_orders(const OrderRequest& request);

/// What a method that compares orders chose, and why; both empty for others.
struct OrderChoice {
  std::string chosen;  ///< "degree order"
  std::string why;     ///< "24 blocks of 8 rows and 8 columns; the original order 30"
};

/// Runs an ordering; the result is empty when it keeps the rows as they stand.
Result<std::vector<std::int32_t>> compute_order(Work& work, const Ordering& ordering,
                                                const formats::CsrView& a, OrderChoice* choice = nullptr);

/// The facts that a bundle records: method, preset, the value of every parameter, window height.
Parameters order_attributes(const Ordering& ordering);

}  // namespace sptile::tools
