// A graph as both sides take it: a square matrix in memory for sptile, its CSR and that of its transpose in
// device memory for the others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/include/sptile.hpp"
#include "tools/bench/bench_device.hpp"
#include "tools/bench/layers/math.hpp"
#include "tools/bench/layers/vendor.hpp"

namespace sptile::tools::layers {

/// What stands in the matrix of a layer.
enum class Weights {
  normalized,    ///< 1 / sqrt(degrees of both nodes) (GCN)
  sum_with_self  ///< A + 1.1 I (GIN)
};

struct HostCsr {
  std::int64_t nodes = 0;
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> columns;
  std::vector<float> values;
};

/// Reads the pattern of a bundle and gives it weights. Errc::unsupported when it is not square, or has more
/// than 2^31 - 1 entries.
Result<HostCsr> read_graph(const std::string& path, Weights weights);

class DeviceGraph {
 public:
  explicit DeviceGraph(const HostCsr& a);

  [[nodiscard]] const Edges& edges() const { return edges_; }
  [[nodiscard]] std::int64_t nodes() const { return edges_.nodes; }
  [[nodiscard]] std::int64_t count() const { return edges_.count; }

  /// Of the pattern, as CSR.
  [[nodiscard]] std::size_t csr_bytes() const {
    return static_cast<std::size_t>(8 * (nodes() + 1) + 4 * count());
  }

  /// With its own weights, f32 or f64, as it stands or transposed.
  template <class T>
  [[nodiscard]] Sparse<T> weighted(bool transposed) const {
    return with_values<T>(transposed, values<T>(transposed).get());
  }
  /// With other numbers.
  template <class T>
  [[nodiscard]] Sparse<T> with_values(bool transposed, void* numbers) const {
    return {edges_.nodes,
            edges_.nodes,
            edges_.count,
            transposed ? edges_.t_row_ptr : edges_.row_ptr,
            transposed ? edges_.t_columns : edges_.columns,
            static_cast<T*>(numbers)};
  }

 private:
  template <class T>
  [[nodiscard]] const DeviceBytes& values(bool transposed) const {
    return *values_[sizeof(T) == 8 ? 1 : 0][transposed ? 1 : 0];
  }

  Edges edges_;
  std::vector<DeviceBytes> arrays_;
  std::unique_ptr<DeviceBytes> values_[2][2];  ///< f32 and f64; as it stands and transposed
};

}  // namespace sptile::tools::layers
