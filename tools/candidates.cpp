#include "tools/candidates.hpp"

#include "tools/devices.hpp"
#include "tools/json.hpp"

namespace sptile::tools {

Json to_json(const std::vector<runtime::Candidate>& candidates) {
  Json list = Json::array();
  for (const runtime::Candidate& c : candidates) {
    Json& json = list.emplace_back();
    json["format"] = c.format;
    json["kernel"] = c.kernel == nullptr ? Json(nullptr) : Json(c.kernel->name);
    json["precision"] = c.refused.empty() ? Json(name_of(c.precision)) : Json(nullptr);
    json["predicted_us"] = c.predicted_us ? Json(*c.predicted_us) : Json(nullptr);
    json["measured_us"] = c.measured_us ? Json(*c.measured_us) : Json(nullptr);
    json["chosen"] = c.chosen;
    json["refused"] = c.refused.empty() ? Json(nullptr) : Json(c.refused);
  }
  return list;
}

}  // namespace sptile::tools
