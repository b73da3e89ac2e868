#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "tools/bench/layers/sides.hpp"
#include "tools/bench/layers/timing.hpp"

namespace sptile::tools::layers {

const std::vector<Layer>& layers() {
  static const std::vector<std::string> update = {"Z", "C", "G", "dbias", "dW", "dX"};
  static const std::vector<Layer> all = {{"gcn",
                                          Weights::normalized,
                                          {1},
                                          update,
                                          "C",
                                          update_layer,
                                          vendor_update_layer<float>,
                                          vendor_update_layer<double>},
                                         {"gin",
                                          Weights::sum_with_self,
                                          {1},
                                          update,
                                          "C",
                                          update_layer,
                                          vendor_update_layer<float>,
                                          vendor_update_layer<double>},
                                         {"agnn",
                                          Weights::sum_with_self,
                                          {1},
                                          {"out", "dH"},
                                          nullptr,
                                          cosine_layer,
                                          vendor_cosine_layer<float>,
                                          vendor_cosine_layer<double>},
                                         {"gat",
                                          Weights::sum_with_self,
                                          {4, 8},
                                          {"out", "da_l", "da_r", "dW", "dX"},
                                          nullptr,
                                          additive_layer,
                                          vendor_additive_layer<float>,
                                          vendor_additive_layer<double>}};
  return all;
}

Launch launch_of(Plan plan, const Operands& operands) {
  const auto kept = std::make_shared<Plan>(std::move(plan));
  return [kept, operands](cudaStream_t stream) { kept->run(operands, stream); };
}

Fastest Request::fastest(const std::string& operation, PlanOptions options, const Operands& operands) const {
  std::optional<Fastest> best;
  std::string missing;
  double least = 0;
  options.choice = Choice::measured;
  std::istringstream names(formats);
  while (std::getline(names, options.format, ',')) try {
      Plan one = plan(operation, options);
      Fastest candidate = {{}, one.workspace_bytes(), options.format};
      candidate.launch = launch_of(std::move(one), operands);
      const double us = graph_us({candidate.launch}, 0);
      if (best && us >= least) continue;
      best = std::move(candidate);
      least = us;
    } catch (const Exception& error) {
      missing = error.what();
    }
  if (!best) throw Exception(SPTILE_UNSUPPORTED, missing);
  return std::move(*best);
}

}  // namespace sptile::tools::layers
