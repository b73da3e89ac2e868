// Conversions and row orders on a CUDA device with input and output in host memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/csr_view.hpp"
#include "runtime/cuda/device_format.hpp"
#include "tools/pipeline/format_choice.hpp"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

/// Result of converting one format.
struct ConvertedFormat {
  formats::FormatData data;
  formats::Array origin;  ///< see formats::value_source; if requested
};

/// Converts on a device and, if with_origin, computes formats::value_source, with the same bytes as on the
/// CPU. Accepts parameters for devices. `matrix` must be on its device; `positions` are the positions of its
/// entries in the source.
Result<ConvertedFormat> convert_on_device(const runtime::cuda::UploadedCsr& matrix,
                                          const FormatChoice& choice, bool with_origin,
                                          std::span<const std::int64_t> positions);

/// Computes the order of rabbit on device 0, with the bits of the CPU. Reports the seconds of each step.
/// Errors as in runtime::cuda::rabbit_on_device.
Result<std::vector<std::int32_t>> order_on_device(Work& work, const formats::CsrView& a);

}  // namespace sptile::tools
