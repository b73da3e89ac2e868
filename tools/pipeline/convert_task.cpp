#include "tools/pipeline/convert_task.hpp"

#include <fmt/format.h>

#include "formats/io/files/atomic_file.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/output_name.hpp"

namespace sptile::tools {
namespace {

Status check_output(const ConvertOptions& options) {
  if (options.fd >= 0) return {};
  if (options.out == "-") return fail(Errc::usage, "a bundle cannot be written to a pipe; name a file");
  return check_output_name(options.out, FileKind::bundle);
}

// Checks early that the output can be written.
Status probe_output(const ConvertOptions& options) {
  if (options.fd >= 0) return {};
  return formats::AtomicFile::create(options.out, options.force).map([](const auto&) {});
}

// Checks for duplicates: "libra_spmm:1,libra_spmm:3" would have equal names in the bundle.
Status check_distinct(const std::vector<FormatChoice>& formats) {
  for (auto choice = formats.begin(); choice != formats.end(); ++choice)
    for (auto before = formats.begin(); before != choice; ++before)
      if (before->layout == choice->layout)
        return fail(Errc::usage, fmt::format("a bundle stores {} only once; got {} and {}",
                                             choice->layout->name, before->label, choice->label));
  return {};
}

// Checks that the device supports the parameters; some are for one device only.
Status check_convertible(const std::vector<FormatChoice>& formats, runtime::Device device) {
  if (device == runtime::Device::cpu) return {};
  for (const FormatChoice& choice : formats)
    if (choice.parameter && !choice.layout->parameter->on_device)
      return fail(Errc::usage,
                  fmt::format("{}: CUDA devices choose the parameter of {}; omit it, or omit --device cuda",
                              choice.label, choice.layout->name));
  return {};
}

// Returns the labels of the formats, without the origin of their parameters.
std::string labels_of(const std::vector<FormatChoice>& formats) {
  std::string labels;
  for (const FormatChoice& choice : formats) labels += (labels.empty() ? "" : ",") + choice.label;
  return labels;
}

}  // namespace

Result<ConvertTask> resolve(const ConvertOptions& options) {
  if (Status s = check_output(options); !s) return tl::unexpected(s.error());
  const auto at = find_name("device", options.device, names_of(devices()));
  if (!at) return tl::unexpected(at.error());
  const DeviceRow& device = devices()[*at];
  const auto automatic = [&](std::string_view format) { return profile_threshold(format, options.dtype); };
  auto formats = parse_formats(options.formats, automatic);
  if (!formats) return tl::unexpected(formats.error());
  if (Status s = check_distinct(*formats); !s) return tl::unexpected(s.error());
  if (Status s = check_convertible(*formats, device.device); !s) return tl::unexpected(s.error());
  const std::string labels = options.formats == "all" ? "all" : labels_of(*formats);
  OrderRequest order = options.order;
  if (order.window_rows == 0) order.window_rows = window_rows_of(*formats);
  auto ordering = resolve_order(order);
  if (!ordering) return tl::unexpected(ordering.error());
  if (Status s = check_usable(device); !s) return tl::unexpected(s.error());
  if (find_device_ordering(*ordering) != nullptr) ordering->device = device.device;
  if (Status s = probe_output(options); !s) return tl::unexpected(s.error());
  return ConvertTask{options.in,           options.out,       std::move(*formats), labels,
                     std::move(*ordering), options.dtype,     device.device,       options.refreshable,
                     options.transpose,    options.real_part, options.strict,      options.force,
                     options.edges,        options.from,      options.matrix,      options.fd,
                     options.dry_run};
}

}  // namespace sptile::tools
