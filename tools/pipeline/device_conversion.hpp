// Conversions on a CUDA device, as the tools need them: from host memory to host memory.
#pragma once

#include "formats/convert/converters.hpp"
#include "runtime/cuda/device_format.hpp"
#include "tools/pipeline/format_choice.hpp"

namespace sptile::tools {

/// What `convert` makes of one format.
struct ConvertedFormat {
  formats::FormatData data;
  formats::Array origin;  ///< see formats::value_source; where wanted
};

/// Converts as the choice does on the CPU and, with_origin, formats::value_source, with the same bytes; it
/// may have a parameter that is for devices. `matrix` is on its device; `positions` say where its entries
/// stand in the source.
Result<ConvertedFormat> convert_on_device(const runtime::cuda::UploadedCsr& matrix,
                                          const FormatChoice& choice, bool with_origin,
                                          std::span<const std::int64_t> positions);

}  // namespace sptile::tools
