// Matrix of a benchmark, with values of several types and in several orders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "runtime/core/operands.hpp"
#include "tools/cli/json.hpp"
#include "tools/pipeline/order.hpp"
#include "tools/pipeline/precision_choice.hpp"

namespace sptile::tools {

/// A matrix in original row order, with values of a type that several precisions share.
struct TypedMatrix {
  std::string name;
  DType values;        ///< requested type; a pattern stays a pattern
  std::string dense;   ///< requested type of B and C; may be empty
  std::string result;  ///< requested type of C; may be empty
  std::vector<PrecisionChoice> precisions;
  formats::CsrView source;
  formats::Array rounded;  ///< values of `source` if they differ from those of the file
  std::string content;     ///< hash of the arrays of `source`, equal for the same matrix in another file

  [[nodiscard]] runtime::DenseTypes dense_types() const;
  /// Returns a label such as "f16 x f16" or "f16 x f16 to f32", which identifies matrices that can share
  /// operands.
  [[nodiscard]] std::string label() const;
};

/// Returns the type in which values are read, so that they can be rounded to each of the requested ones.
DType common_type(const std::vector<PrecisionChoice>& precisions);

/// Groups precisions by their types. `a` must outlive the result.
std::vector<TypedMatrix> with_types(const std::string& name, const formats::CsrView& a,
                                    const std::vector<PrecisionChoice>& precisions);

/// An ordering of a matrix, computed on demand.
class OrderedMatrix {
 public:
  OrderedMatrix(const Ordering& ordering, const formats::CsrView& a) : ordering_(ordering), source_(a) {}

  [[nodiscard]] const Ordering& ordering() const { return ordering_; }

  /// Computes the order and the quality of its windows on the first call.
  Status compute(Session& session);

  /// The results below require compute().
  [[nodiscard]] std::span<const std::int32_t> order() const { return order_; }
  [[nodiscard]] const Json& facts() const { return facts_; }  ///< reorder_us, tc_blocks, mean_nnz_tc
  /// Returns the ordered rows with values rounded to a type; `storage` owns them.
  [[nodiscard]] formats::CsrView view(DType values, formats::Array& storage) const;

 private:
  const Ordering& ordering_;
  formats::CsrView source_;
  bool ready_ = false;
  std::vector<std::int32_t> order_;
  formats::Csr permuted_;
  Json facts_ = Json::object();
};

}  // namespace sptile::tools
