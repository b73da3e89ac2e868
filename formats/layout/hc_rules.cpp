#include "formats/layout/hc_rules.hpp"

namespace sptile::formats {

Status check_hc_parameter(int parameter) { return check_parameter(kHcWindowLayout, parameter); }

Parameters hc_parameters(int parameter, std::int64_t tensor_windows, std::int64_t cuda_windows) {
  const HcSelector selector = hc_selector(parameter);
  return {{"window_rows", std::int64_t{16}},
          {"selector", value_text(*kHcWindowLayout.parameter, parameter)},
          {"constant_weight", std::int64_t{selector.constant}},
          {"sparsity_weight", std::int64_t{selector.sparsity}},
          {"columns_weight", std::int64_t{selector.columns}},
          {"tensor_windows", tensor_windows},
          {"cuda_windows", cuda_windows}};
}

}  // namespace sptile::formats
