#include "tools/order_options.hpp"

namespace sptile::tools {

Option declare_order(Options& app, OrderRequest& request, const std::string& option,
                     const std::string& help) {
  const Option method = app.add_option(option, request.method, help);
  app.add_option("--preset", request.preset,
                 "settings of the ordering that have a name ('sptile list reorderers')")
      .default_text("none");
  app.add_option("--set", request.settings, "NAME=VALUE: a parameter of the ordering; several with commas")
      .default_text("none");
  app.add_option("--window-rows", request.window_rows, "window height that orderings aim at")
      .range(kLeastWindowRows, kMostWindowRows);
  return method;
}

}  // namespace sptile::tools
