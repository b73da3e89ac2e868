#include "tools/partition/prediction.hpp"

#include <algorithm>

namespace sptile::tools {
namespace {

double product_seconds(std::int64_t entries, const ClusterModel& model) {
  return 2.0 * static_cast<double>(model.n) * static_cast<double>(entries) / model.rate;
}

double exchange_seconds(const PartCounts& part, const ClusterModel& model) {
  const auto peers = static_cast<double>(std::max(part.senders, part.receivers));
  const auto rows = static_cast<double>(std::max(part.sent, part.received));
  return model.latency * peers +
         rows * static_cast<double>(model.n) * static_cast<double>(model.value_bytes) / model.bandwidth;
}

}  // namespace

StepPrediction predict_step(const std::vector<PartCounts>& parts, const ClusterModel& model) {
  StepPrediction slowest;
  for (const PartCounts& part : parts) {
    const double local = product_seconds(part.local_entries, model);
    const double halo = product_seconds(part.halo_entries, model);
    const double exchange = exchange_seconds(part, model);
    const double step = std::max(local, exchange) + halo;
    if (step > slowest.step) slowest = {step, local, halo, exchange};
  }
  slowest.alone = product_seconds(totals_of(parts).entries, model);
  if (slowest.step > 0)
    slowest.efficiency = slowest.alone / (static_cast<double>(parts.size()) * slowest.step);
  return slowest;
}

}  // namespace sptile::tools
