// Conversions on a CUDA device with input and output in host memory.
#pragma once

#include <cstdint>
#include <span>

#include "formats/convert/converters.hpp"
#include "formats/core/csr_view.hpp"
#include "runtime/cuda/device_format.hpp"
#include "tools/pipeline/format_choice.hpp"

namespace sptile::tools {

/// Result of converting one format.
struct ConvertedFormat {
  formats::FormatData data;
  formats::Array origin;  ///< see formats::value_source; if requested
};

/// Converts on a device and, if with_origin, computes formats::value_source, with the same bytes as on the
/// CPU. Accepts parameters for devices. `matrix` must be on its device; `positions` are the positions of its
/// entries in the source, empty if it has them in the order of the source.
Result<ConvertedFormat> convert_on_device(const runtime::cuda::UploadedCsr& matrix,
                                          const FormatChoice& choice, bool with_origin,
                                          std::span<const std::int64_t> positions);

}  // namespace sptile::tools
