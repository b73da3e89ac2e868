#include "tools/partition/limited_json.hpp"

#include <utility>
#include <vector>

namespace sptile::tools {
namespace {

using Json = nlohmann::ordered_json;

struct LimitBroken {};

/// Counts parser events; throws LimitBroken.
class Counter {
 public:
  explicit Counter(const JsonLimits& limits) : limits_(limits) {}

  void count(int depth, Json::parse_event_t event) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) keys_.push_back(0);
    if (event == Event::object_end) keys_.pop_back();
    const bool too_many_keys = event == Event::key && ++keys_.back() > limits_.keys;
    if (depth > limits_.depth || ++events_ > limits_.events || too_many_keys) throw LimitBroken();
  }

 private:
  const JsonLimits& limits_;
  std::int64_t events_ = 0;
  std::vector<std::size_t> keys_;  // keys of each open object
};

}  // namespace

std::optional<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  Counter counter(limits);
  const auto look = [&](int depth, Json::parse_event_t event, Json&) {
    counter.count(depth, event);
    return true;
  };
  try {
    Json json = Json::parse(text, look, false);
    if (json.is_discarded()) return std::nullopt;
    return json;
  } catch (const LimitBroken&) {
    return std::nullopt;
  }
}

}  // namespace sptile::tools
