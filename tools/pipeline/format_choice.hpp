// Formats by name, some with a parameter: "csr", "tall:64", "libra_sddmm:16", "libra_spmm:auto".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/convert/converters.hpp"

namespace sptile::tools {

struct FormatChoice {
  std::string label;  ///< as typed; what stands for auto: "libra_spmm:1"
  const formats::FormatLayout* layout = nullptr;
  const formats::Converter* converter = nullptr;
  std::optional<int> parameter = {};  ///< of the format; none: what the conversion chooses
  std::string why = {};               ///< where the parameter of auto comes from
  std::string source = {};            ///< of the profile that it comes from: a file, or "built in"

  /// Converts; see formats::Converter::from_csr.
  [[nodiscard]] formats::Conversion conversion() const;
};

/// Rows of the windows that all formats have, so that rows are ordered for the kernels that will run; 8 where
/// formats differ or have none.
int window_rows_of(const std::vector<FormatChoice>& formats);

/// A threshold that was found for a format, and where.
struct FoundThreshold {
  int value = 0;
  std::string why;          ///< "threshold_128, tf32, in the profile of NVIDIA H100 80GB HBM3"
  std::string source = {};  ///< of that profile: "built in"
};
using ThresholdFinder = std::function<Result<FoundThreshold>(std::string_view format)>;

/// Finds the threshold for products of matrices with these values in the profile of the first CUDA device,
/// or, where there is none, in the one that SPTILE_PROFILE names, the user's or a built-in one; see
/// runtime::usual_product. Errc::unsupported when the profile has none, or there is no profile.
Result<FoundThreshold> profile_threshold(std::string_view format, DType values);

/// Reads a list with commas, repeated ones once, or "all". `automatic` finds what auto stands for; without it
/// auto is not known. Errc::usage names what is unknown, and what would do.
Result<std::vector<FormatChoice>> parse_formats(std::string_view list, const ThresholdFinder& automatic = {});

}  // namespace sptile::tools
