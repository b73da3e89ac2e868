// A layer as one side computes it: forward and backward.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/layers/arrays.hpp"
#include "tools/bench/layers/graph.hpp"

namespace sptile::tools::layers {

/// What is measured.
struct Shape {
  std::int64_t d = 64;  ///< features of a node
  std::int64_t h = 64;  ///< of a result, of all heads
  int heads = 1;
};

/// A run of the fastest plan there is.
struct Fastest {
  Launch launch;
  std::size_t workspace_bytes = 0;
  std::string format;
};

/// How sptile is asked.
struct Request {
  Matrix& matrix;
  std::string formats;  ///< to choose from, with commas
  Precision precision = Precision::tf32;

  /// Plans an operation on device 0, with csr where no format is named.
  [[nodiscard]] Plan plan(const std::string& operation, PlanOptions options) const {
    options.device = Device::cuda;
    options.precision = precision;
    if (options.format.empty()) options.format = "csr";
    return matrix.plan(operation, options);
  }

  /// Plans it with each of the formats, which are made on the device, and measures; of csr its kernels are
  /// measured, too. Throws where none can.
  [[nodiscard]] Fastest fastest(const std::string& operation, PlanOptions options,
                                const Operands& operands) const;
};

/// One side; launches use its arrays.
struct Side {
  Step forward, backward;
  std::size_t workspace_bytes = 0;

  [[nodiscard]] Step both() const {
    Step step = forward;
    step.insert(step.end(), backward.begin(), backward.end());
    return step;
  }
};

/// A kind of layer.
struct Layer {
  const char* name;
  Weights weights;
  std::vector<int> heads;
  std::vector<std::string> results;  ///< arrays that are compared with the reference
  /// An array of the forward result whose signs the gradient of the reference takes from sptile: where a sum
  /// is nearly 0, an activation may go either way. Null: none.
  const char* signs;

  Side (*ours)(const Request&, const DeviceGraph&, const Shape&, Arrays<float>&);
  Side (*vendor)(const DeviceGraph&, const Shape&, Arrays<float>&);
  Side (*reference)(const DeviceGraph&, const Shape&, Arrays<double>&);
};

/// GCN, GIN, AGNN and GAT.
const std::vector<Layer>& layers();

/// Launches a run of a plan.
Launch launch_of(Plan plan, const Operands& operands);

/// The parts of the table.
Side update_layer(const Request& request, const DeviceGraph& graph, const Shape& shape,
                  Arrays<float>& arrays);
template <class T>
Side vendor_update_layer(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays);
Side cosine_layer(const Request& request, const DeviceGraph& graph, const Shape& shape,
                  Arrays<float>& arrays);
template <class T>
Side vendor_cosine_layer(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays);
Side additive_layer(const Request& request, const DeviceGraph& graph, const Shape& shape,
                    Arrays<float>& arrays);
template <class T>
Side vendor_additive_layer(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays);

}  // namespace sptile::tools::layers
