// Fitted constants of one device: a small text file, made by `sptile calibrate`.
//
//   sptile-profile  1
//   device  cuda  90  NVIDIA H100 80GB HBM3
//   number  cuda.csr.rows  fp32  launch  3.1
//
// Words are separated by tabs or blanks; # starts a comment line. A number belongs to a kernel and a
// precision (`any`: all of them). Names of the cost model (kFeatures) are microseconds per unit of the
// feature; numbers with other names are kept for the kernels that know them.
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

/// The precision of numbers that all precisions share.
inline constexpr std::string_view kAnyPrecision = "any";

/// DeviceProfile::source of a built-in profile.
inline constexpr std::string_view kBuiltInSource = "built in";

/// One constant.
struct ProfileNumber {
  std::string kernel;     ///< "cuda.csr.rows"
  std::string precision;  ///< "tf32"; "any"
  std::string name;       ///< of a feature, or whatever a kernel wants to know
  double value = 0;
};

/// What a profile is for.
struct ProfileDevice {
  Device kind = Device::cpu;
  int capability = 0;  ///< 10 * major + minor of a CUDA device; 0 for a CPU
  std::string name;    ///< as the driver or the system says it
};

/// The constants of one device.
class DeviceProfile {
 public:
  ProfileDevice device;
  std::vector<ProfileNumber> numbers;
  std::string source;  ///< file, or kBuiltInSource

  /// Finds one constant, of the precision or else of any.
  [[nodiscard]] std::optional<double> find(std::string_view kernel, std::string_view precision,
                                           std::string_view name) const;

  /// Predicts microseconds; nothing when the profile does not know the kernel. A precision that was not
  /// measured costs what another one of the same kernel does.
  [[nodiscard]] std::optional<double> predict(std::string_view kernel, std::string_view precision,
                                              const CostFeatures& features) const;

 private:
  [[nodiscard]] std::string_view known_precision(std::string_view kernel, std::string_view precision) const;
};

/// True for the names of kFeatures.
bool is_feature(std::string_view name);

/// Reads a profile. Errc::bad_input with "where:line" for anything but such a file, Errc::unsupported for a
/// newer version. Costs must be finite and not negative, other numbers finite.
Result<DeviceProfile> parse_profile(std::string_view text, const std::string& where);

/// Writes it as text that parse_profile reads back exactly. `comments` become comment lines at the top.
std::string format_profile(const DeviceProfile& profile, std::span<const std::string> comments = {});

/// Reads a file of at most 1 MiB. Errc::io when it cannot be read.
Result<DeviceProfile> read_profile(const std::string& path);

}  // namespace sptile::runtime
