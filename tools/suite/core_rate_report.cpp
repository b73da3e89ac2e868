#include "tools/suite/core_rate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {

Json to_json(std::span<const CoreRate> rates) {
  Json list = Json::array();
  for (const CoreRate& rate : rates) {
    const double both = rate.tensor_flops + rate.cuda_flops;
    const auto add = [&](const char* mode, double us, double flops) {
      list.push_back({{"ratio", rate.ratio}, {"mode", mode}, {"us", us}, {"tflops", flops / us * 1e-6}});
    };
    add("tensor cores only", rate.tensor_us, rate.tensor_flops);
    add("CUDA cores only", rate.cuda_us, rate.cuda_flops);
    add("sequential", rate.sequential_us, both);
    add("concurrent", rate.concurrent_us, both);
    add("theoretical", std::max(rate.tensor_us, rate.cuda_us), both);
  }
  return list;
}

std::string core_rates_text(const Json& rates, const std::string& title) {
  std::vector<std::vector<std::string>> table = {{"CUDA / tensor time", "mode", "time", "TFLOP/s"}};
  for (const Json& rate : rates)
    table.push_back({fmt::format("{:.1f}", rate["ratio"].get<double>()), rate["mode"].get<std::string>(),
                     human_seconds(1e-6 * rate["us"].get<double>()),
                     fmt::format("{:.1f}", rate["tflops"].get<double>())});
  return fmt::format("\n{}\n{}", title, format_table(table, "rlrr"));
}

}  // namespace sptile::tools
