// A matrix as a benchmark holds it: with values of several types, in several orders.
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

/// A matrix in its original row order with values of the type that some precisions share.
struct TypedMatrix {
  std::string name;
  DType values;        ///< type that is wanted; a pattern stays one
  std::string dense;   ///< type of B and C as asked for; may be empty
  std::string result;  ///< of C alone
  std::vector<PrecisionChoice> precisions;
  formats::CsrView source;
  formats::Array rounded;  ///< of `source`, when its values are not those of the file
  std::string content;     ///< hash of the arrays of `source`: the same matrix in another file has it, too

  [[nodiscard]] runtime::DenseTypes dense_types() const;
  /// "f16 x f16", "f16 x f16 to f32": tells apart what can share operands.
  [[nodiscard]] std::string label() const;
};

/// The type to read values in, so that they can be rounded to each of several.
DType common_type(const std::vector<PrecisionChoice>& precisions);

/// Groups precisions by their types. `a` must outlive the result.
std::vector<TypedMatrix> with_types(const std::string& name, const formats::CsrView& a,
                                    const std::vector<PrecisionChoice>& precisions);

/// One ordering of a matrix, computed when it is needed.
class OrderedMatrix {
 public:
  OrderedMatrix(const Ordering& ordering, const formats::CsrView& a) : ordering_(ordering), source_(a) {}

  [[nodiscard]] const Ordering& ordering() const { return ordering_; }

  /// Computes the order and the quality of its windows, the first time.
  Status compute(Session& session);

  /// What follows is there after compute.
  [[nodiscard]] std::span<const std::int32_t> order() const { return order_; }
  [[nodiscard]] const Json& facts() const { return facts_; }  ///< reorder_us, tc_blocks, mean_nnz_tc
  /// The rows in order, values rounded to a type; `storage` keeps them.
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
