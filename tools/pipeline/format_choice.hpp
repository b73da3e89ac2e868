// Formats by name, optionally with a parameter: "csr", "tall:64", "libra_sddmm:16", "libra_spmm:auto".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/convert/converters.hpp"

namespace sptile::tools {

struct FormatChoice {
  std::string label;  ///< as typed, with auto replaced by its value: "libra_spmm:1"
  const formats::FormatLayout* layout = nullptr;
  const formats::Converter* converter = nullptr;
  std::optional<int> parameter = {};  ///< parameter of the format; nullopt: chosen by the conversion
  std::string why = {};               ///< origin of the value for auto
  std::string source = {};            ///< profile that contains it: a file, or "built in"

  /// Returns the conversion; see formats::Converter::from_csr.
  [[nodiscard]] formats::Conversion conversion() const;
};

/// Returns the common window height of the formats, so that rows are ordered for the kernels that will run; 8
/// if formats differ or have no windows.
int window_rows_of(const std::vector<FormatChoice>& formats);

/// A threshold of a format and its origin.
struct FoundThreshold {
  int value = 0;
  std::string why;          ///< for example "threshold_128, tf32, in the profile of NVIDIA H100 80GB HBM3"
  std::string source = {};  ///< source of that profile, for example "built in"
};
using ThresholdFinder = std::function<Result<FoundThreshold>(std::string_view format)>;

/// Returns the threshold for products of matrices with these values, from the profile of the first CUDA
/// device or, without a device, from the profile in SPTILE_PROFILE, the user's or a built-in one; see
/// runtime::usual_product. Errc::unsupported if the profile has no threshold, or there is no profile.
Result<FoundThreshold> profile_threshold(std::string_view format, DType values);

/// Parses a comma-separated list, without duplicates, or "all". `automatic` returns the value for auto;
/// without it, auto is refused. Errc::usage names the unknown part and the alternatives.
Result<std::vector<FormatChoice>> parse_formats(std::string_view list, const ThresholdFinder& automatic = {});

}  // namespace sptile::tools
