#include <memory>

#include "tools/bench/layers/sides.hpp"

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

}  // namespace sptile::tools::layers
