// Fitted constants of one device: a small text file, written by `sptile calibrate`.
//
//   sptile-profile  1
//   device  cuda  90  NVIDIA H100 80GB HBM3
//   number  cuda.csr.rows  fp32  launch  3.1
//
// Words are separated by tabs or blanks; # starts a comment line. A number belongs to a kernel and a
// precision (`any`: all of them). Names of the cost model (kFeatures) are microseconds per unit of the
// feature; numbers with other names are kept for the kernels that use them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "runtime/choice/cost_features.hpp"
#include "runtime/core/options.hpp"

namespace sptile::runtime {

/// Precision name of numbers that all precisions share.
inline constexpr std::string_view kAnyPrecision = "any";

/// DeviceProfile::source of a built-in profile.
inline constexpr std::string_view kBuiltInSource = "built in";

/// One constant.
struct ProfileNumber {
  std::string kernel;     ///< for example "cuda.csr.rows"
  std::string precision;  ///< for example "tf32", or "any"
  std::string name;       ///< a feature, or a constant of the kernel
  double value = 0;
};

/// Device of a profile.
struct ProfileDevice {
  Device kind = Device::cpu;
  int capability = 0;  ///< 10 * major + minor of a CUDA device; 0 for a CPU
  std::string name;    ///< as reported by the driver or the system
};

/// The constants of one device.
class DeviceProfile {
 public:
  ProfileDevice device;
  std::vector<ProfileNumber> numbers;
  std::string source;  ///< file name, or kBuiltInSource

  /// Returns a constant for the precision, otherwise for any precision.
  [[nodiscard]] std::optional<double> find(std::string_view kernel, std::string_view precision,
                                           std::string_view name) const;

  /// Returns whether there are times of the kernel, at all or for products in the precision.
  [[nodiscard]] bool has_times(std::string_view kernel) const;
  [[nodiscard]] bool has_times(std::string_view kernel, std::string_view precision) const;

  /// Predicts the time in microseconds; nullopt if the profile has no constants of the kernel. Without
  /// constants of the precision, those of another precision of the kernel are used.
  [[nodiscard]] std::optional<double> predict(std::string_view kernel, std::string_view precision,
                                              const CostFeatures& features) const;

 private:
  [[nodiscard]] std::string_view known_precision(std::string_view kernel, std::string_view precision) const;
};

/// Returns whether a name is one of kFeatures.
bool is_feature(std::string_view name);

/// Parses a profile. Errc::bad_input with "where:line" for invalid text, Errc::unsupported for a newer
/// version. Costs must be finite and nonnegative, other numbers finite.
Result<DeviceProfile> parse_profile(std::string_view text, const std::string& where);

/// Returns text that parse_profile restores exactly. `comments` become comment lines at the top.
std::string format_profile(const DeviceProfile& profile, std::span<const std::string> comments = {});

/// Reads a file of at most 1 MiB. Errc::io if it cannot be read.
Result<DeviceProfile> read_profile(const std::string& path);

}  // namespace sptile::runtime
