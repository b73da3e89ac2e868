#include "tools/measure/bench_conversions.hpp"

#include "formats/convert/packed_positions.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {

auto BenchConversions::convert(const FormatChoice& format) -> Result<Converted> {
  if (Status s = ordered_.compute(session_); !s) return tl::unexpected(std::move(s.error()));
  if (!ready_) view_ = ordered_.view(values_, storage_);
  ready_ = true;
  const Stopwatch watch;
  auto data = format.conversion()(view_, &session_.progress);
  if (!data) return tl::unexpected(std::move(data.error()));
  Converted converted{std::move(*data), watch.seconds() * 1e6, {}};
  if (!with_source_) return converted;
  auto entries = formats::packed_entries(converted.data.view(), ordered_.order());
  if (!entries) return tl::unexpected(std::move(entries.error()));
  converted.value_source = std::move(*entries);
  return converted;
}

auto BenchConversions::get(std::size_t format) -> Result<const Converted*> {
  if (!converted_[format]) {
    auto converted = convert(formats_[format]);
    if (!converted) return tl::unexpected(std::move(converted.error()));
    converted_[format] = std::move(*converted);
  }
  return &*converted_[format];
}

}  // namespace sptile::tools
