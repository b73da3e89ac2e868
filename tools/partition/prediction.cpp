#include "tools/partition/prediction.hpp"

#include <algorithm>

namespace sptile::tools {
namespace {

double operations(const ProductWork& work, std::int64_t n) {
  return 2.0 * static_cast<double>(n) * static_cast<double>(work.entries);
}

double local_seconds(const ProductWork& work, const ClusterModel& model) {
  return model.rate ? operations(work, model.n) / *model.rate
                    : model.product.seconds(work, model.n, model.row_bytes());
}

double halo_seconds(const ProductWork& work, const ClusterModel& model) {
  return local_seconds(work, model) * (model.rate ? 1 : model.product.halo_factor);
}

double exchange_seconds(const PartCounts& part, const ClusterModel& model) {
  const auto rows = static_cast<double>(std::max(part.sent, part.received));
  if (rows == 0) return 0;
  const auto peers = static_cast<double>(std::max(part.senders, part.receivers));
  return model.start + model.latency * peers +
         rows * static_cast<double>(model.row_bytes()) / model.bandwidth;
}

}  // namespace

double ProductModel::seconds(const ProductWork& work, std::int64_t n, std::int64_t row_bytes) const {
  if (work.entries == 0) return 0;
  const double rows = work.far_misses + static_cast<double>(work.outputs);
  return launch + operations(work, n) / rate +
         static_cast<double>(row_bytes) * (work.near_misses / near + rows / memory);
}

StepPrediction predict_step(const std::vector<PartCounts>& parts, const StepWork& work,
                            const ClusterModel& model) {
  StepPrediction slowest;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const double local = local_seconds(work.parts[p].local, model);
    const double halo = halo_seconds(work.parts[p].halo, model);
    const double exchange = exchange_seconds(parts[p], model);
    const double step = std::max(local, exchange) + halo;
    if (step > slowest.step) slowest = {step, local, halo, exchange};
  }
  slowest.alone = local_seconds(work.one, model);
  if (slowest.step > 0)
    slowest.efficiency = slowest.alone / (static_cast<double>(parts.size()) * slowest.step);
  return slowest;
}

}  // namespace sptile::tools
