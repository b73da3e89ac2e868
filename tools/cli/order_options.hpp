// Options of verbs that order rows.
#pragma once

#include <string>

#include "tools/cli/options.hpp"
#include "tools/pipeline/order.hpp"

namespace sptile::tools {

/// Declares the option for the method, and --preset, --set and --window-rows, with the same text for every
/// verb.
Option declare_order(Options& app, OrderRequest& request, const std::string& option, const std::string& help);

/// Declares the option for several methods: METHOD[:PRESET] with commas, or all.
Option declare_orders(Options& app, OrderRequest& request, const std::string& option,
                      const std::string& help);

}  // namespace sptile::tools
