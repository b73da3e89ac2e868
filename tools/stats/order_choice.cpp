#include "tools/stats/order_choice.hpp"

#include <fmt/format.h>

#include "tools/cli/json.hpp"

namespace sptile::tools {

Json to_json(const OrderChoice& choice) {
  if (choice.chosen.empty()) return nullptr;
  return {{"chosen", choice.chosen}, {"why", choice.why}};
}

std::string choice_text(const Ordering& ordering, const OrderChoice& choice) {
  if (choice.chosen.empty()) return {};
  return fmt::format("{} chose {}: {}\n", ordering.method->name, choice.chosen, choice.why);
}

}  // namespace sptile::tools
