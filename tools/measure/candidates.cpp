#include "tools/measure/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/json.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/units.hpp"

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

std::string why_chosen(const std::vector<runtime::Candidate>& candidates, runtime::Device device) {
  const runtime::Candidate* const best = runtime::chosen_of(candidates);
  const auto others = std::ranges::count_if(
      candidates, [&](const runtime::Candidate& c) { return &c != best && c.refused.empty(); });
  if (best == nullptr || others == 0) return {};
  const bool measured = best->measured_us.has_value();
  const auto time = [&](const runtime::Candidate& c) { return measured ? c.measured_us : c.predicted_us; };
  if (!time(*best))
    return fmt::format(
        "no profile of this device predicts its time; run 'sptile calibrate --device {}' or "
        "use --choose measured",
        name_of(device));
  const runtime::Candidate* next = nullptr;
  for (const runtime::Candidate& c : candidates)
    if (&c != best && c.refused.empty() && time(c) && (next == nullptr || *time(c) < *time(*next))) next = &c;
  std::string text =
      fmt::format("{} to take {}", measured ? "measured" : "predicted", human_seconds(*time(*best) * 1e-6));
  if (next != nullptr)
    text += fmt::format("; next {} with {}, {}", next->format, next->kernel->name,
                        human_seconds(*time(*next) * 1e-6));
  return text;
}

}  // namespace sptile::tools
