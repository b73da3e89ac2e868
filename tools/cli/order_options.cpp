#include "tools/cli/order_options.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "reorder/registry.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {

// Returns the presets ("thorough") or settings ("alpha=") of all methods, without duplicates.
template <class Row>
std::vector<std::string> settings_of_all(std::span<const Row> reorder::Reorderer::*rows,
                                         std::string_view ending) {
  std::vector<std::string> names;
  for (const reorder::Reorderer& method : reorder::reorderers())
    for (const Row& row : method.*rows) names.push_back(std::string(row.name).append(ending));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Option declare_orders(Options& app, OrderRequest& request, const std::string& option, const std::string& help,
                      std::vector<std::string> known) {
  Option method = app.add_option(option, request.method, help).names("reorderer", std::move(known));
  method.details("`sptile list reorderers` prints the methods. `METHOD:PRESET` also selects a preset.");
  app.add_option("--preset NAME", request.preset, "Preset of the ordering, from fast to thorough")
      .offer(settings_of_all(&reorder::Reorderer::presets, ""))
      .default_text("none")
      .details("`sptile list reorderers` prints the presets of each method.");
  app.add_option("--set NAME=VALUE", request.settings, "Parameters of the ordering, separated by commas")
      .offer(settings_of_all(&reorder::Reorderer::parameters, "="))
      .default_text("none")
      .details("They override the preset.");
  const bool by_formats = request.window_rows == 0;
  Option rows =
      app.add_option("--window-rows ROWS", request.window_rows, "Height of the row windows to optimize for")
          .range(kMinWindowRows, kMaxWindowRows)
          .unit("rows");
  if (by_formats) rows.default_text("height common to all formats, else 8");
  return method;
}

}  // namespace

Option declare_order(Options& app, OrderRequest& request, const std::string& option,
                     const std::string& help) {
  return declare_orders(app, request, option, help, names_of(reorder::reorderers()));
}

Option declare_orders(Options& app, OrderRequest& request, const std::string& option,
                      const std::string& help) {
  return declare_orders(app, request, option, help, names_with("all", names_of(reorder::reorderers())));
}

}  // namespace sptile::tools
