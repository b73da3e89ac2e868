#include "tools/stats/stored_plans.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

// Returns a number, or null for other text, because keys may come from untrusted bundles.
Json number_or_null(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? Json(number) : Json(nullptr);
}

std::string text_or_dash(std::string_view text) { return text.empty() ? "-" : std::string(text); }

// Returns the types of the operands and, if wider, of the result.
std::string types_text(const runtime::StoredPlan& plan) {
  const std::string_view dense = plan.field("dense"), result = plan.field("result");
  return text_or_dash(dense) + (result.empty() || result == dense ? "" : fmt::format(" to {}", result));
}

// Returns the device, with the properties on which the plan depends.
std::string device_text(const runtime::StoredPlan& plan) {
  std::string text = text_or_dash(plan.field("device"));
  const auto add = [&](const char* line, std::string_view before, std::string_view after) {
    if (const std::string_view value = plan.field(line); !value.empty())
      text += fmt::format(", {}{}{}", before, value, after);
  };
  add("threads", "", plan.field("threads") == "1" ? " thread" : " threads");
  add("capability", "capability ", "");
  add("multiprocessors", "", " multiprocessors");
  return text;
}

}  // namespace

Json to_json(const runtime::StoredPlan& plan) {
  Json json;
  for (const char* name : {"op", "format", "kernel"}) json[name] = text_or_null(plan.field(name));
  json["n"] = number_or_null(plan.field("n"));
  json["values"] = text_or_null(plan.field("values"));
  json["transpose"] = plan.field("side") == "transpose";
  json["dtype"] = text_or_null(plan.field("dense"));
  json["result_dtype"] = text_or_null(plan.field("result"));
  json["precision"] = text_or_null(plan.field("precision"));
  json["device"] = text_or_null(plan.field("device"));
  for (const char* name : {"threads", "capability", "multiprocessors", "l2_bytes"})
    json[name] = number_or_null(plan.field(name));
  json["bytes"] = plan.schedule.bytes.size();
  return json;
}

std::string plans_text(std::span<const runtime::StoredPlan> plans) {
  std::vector<std::vector<std::string>> rows = {
      {"plan", "format", "kernel", "n", "dense", "products", "device", "bytes"}};
  for (const runtime::StoredPlan& plan : plans) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(text_or_dash(plan.field("op")) + (plan.field("side") == "transpose" ? " of A^T" : ""));
    for (const char* name : {"format", "kernel", "n"}) row.push_back(text_or_dash(plan.field(name)));
    row.push_back(types_text(plan));
    row.push_back(text_or_dash(plan.field("precision")));
    row.push_back(device_text(plan));
    row.push_back(human_bytes(static_cast<std::int64_t>(plan.schedule.bytes.size())));
  }
  return format_table(rows, "lllrlllr");
}

}  // namespace sptile::tools
