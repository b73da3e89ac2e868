// Formats of one ordering of a matrix with one value type, converted on demand.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/buffer.hpp"
#include "runtime/core/matrix.hpp"
#include "tools/measure/bench_matrix.hpp"
#include "tools/pipeline/format_choice.hpp"

namespace sptile::tools {

class BenchConversions {
 public:
  struct Converted {
    formats::FormatData data;
    double us = 0;
    formats::Array value_source;  ///< see PlanMatrix; if requested
  };

  /// Converts on demand; `with_source` also computes value_source. All arguments must outlive the object.
  BenchConversions(Session& session, std::span<const FormatChoice> formats, OrderedMatrix& ordered,
                   DType values, bool with_source)
      : session_(session),
        formats_(formats),
        ordered_(ordered),
        values_(values),
        with_source_(with_source),
        converted_(formats.size()) {}

  [[nodiscard]] const OrderedMatrix& ordered() const { return ordered_; }

  /// Returns the format at an index of the list.
  Result<const Converted*> get(std::size_t format);

  /// Returns the matrix for planning.
  [[nodiscard]] runtime::PlanMatrix matrix(const Converted& converted) const {
    return {converted.data.view(), ordered_.order(), converted.value_source.view(), nullptr};
  }

 private:
  Result<Converted> convert(const FormatChoice& format);

  Session& session_;
  std::span<const FormatChoice> formats_;
  OrderedMatrix& ordered_;
  DType values_;
  bool with_source_, ready_ = false;
  formats::Array storage_;
  formats::CsrView view_;
  std::vector<std::optional<Converted>> converted_;
};

}  // namespace sptile::tools
