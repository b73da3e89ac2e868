// Devices and precisions by the names used on the command line and in JSON.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "runtime/core/options.hpp"

namespace sptile::tools {

struct DeviceRow {
  std::string_view name;
  runtime::Device device;
};

std::span<const DeviceRow> devices();
std::string_view name_of(runtime::Device device);

/// Errc::device, listing the usable devices, if this build or machine lacks the device.
Status check_usable(const DeviceRow& row);

/// Returns whether this build has a kernel for the device and this machine can run it.
bool device_available(const DeviceRow& row);

/// Returns one line of details: the number of threads, or devices with compute capabilities, or the missing
/// part.
std::string device_detail(const DeviceRow& row);

struct PrecisionRow {
  std::string_view name;
  runtime::Precision precision;
};

/// Returns the precisions that can be requested.
std::span<const PrecisionRow> precisions();

/// Returns a precision by name; nullopt for other names, such as none.
std::optional<runtime::Precision> precision_named(std::string_view name);

}  // namespace sptile::tools
