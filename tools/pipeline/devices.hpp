// Devices and precisions by name, as the command line and JSON say them.
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

/// Errc::device, naming what is usable here, when this build or this machine lacks it.
Status check_usable(const DeviceRow& row);

/// True when this build has a kernel for the device that this machine can run.
bool device_available(const DeviceRow& row);

/// One line on what is there: threads, or devices with their compute capabilities, or what is missing.
std::string device_detail(const DeviceRow& row);

struct PrecisionRow {
  std::string_view name;
  runtime::Precision precision;
};

/// Those that one can ask for.
std::span<const PrecisionRow> precisions();

/// Finds any precision by name; nothing for other names, such as none.
std::optional<runtime::Precision> precision_named(std::string_view name);

}  // namespace sptile::tools
