#include "tools/conversion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "formats/convert/converters.hpp"
#include "formats/io/atomic_file.hpp"
#include "formats/io/bundle_writer.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/registry.hpp"
#include "formats/row_order.hpp"
#include "tools/background.hpp"
#include "tools/device_conversion.hpp"
#include "tools/devices.hpp"
#include "tools/format_choice.hpp"
#include "tools/input.hpp"
#include "tools/output_name.hpp"
#include "tools/stopwatch.hpp"
#include "tools/units.hpp"

namespace sptile::tools {
namespace {

FormatReport report_format(const formats::FormatView& view, double seconds, Parameters parameters,
                           std::string why) {
  return {std::string(view.layout->name),
          view.layout->tc_blocks(view),
          formats::index_bytes(view),
          formats::value_bytes(view),
          seconds,
          std::move(parameters),
          std::move(why)};
}

bool is_csr(const FormatChoice& choice) { return choice.converter->format == "csr"; }

// Each format once: "libra_spmm:1,libra_spmm:3" would be two of one name.
Status check_distinct(const std::vector<FormatChoice>& formats) {
  for (auto choice = formats.begin(); choice != formats.end(); ++choice)
    for (auto before = formats.begin(); before != choice; ++before)
      if (before->converter == choice->converter)
        return fail(Errc::usage, fmt::format("a bundle holds {} once, not as {} and as {}",
                                             choice->converter->format, before->label, choice->label));
  return {};
}

// A device takes some parameters; others it chooses.
Status check_convertible(const std::vector<FormatChoice>& formats, runtime::Device device) {
  if (device == runtime::Device::cpu) return {};
  for (const FormatChoice& choice : formats)
    if (choice.parameter && !formats::find_layout(choice.converter->format)->parameter->on_device)
      return fail(Errc::usage,
                  fmt::format("{}: a CUDA device converts to {} as it chooses; leave out the number, "
                              "or --device cuda",
                              choice.label, choice.converter->format));
  return {};
}

Result<std::vector<FormatChoice>> resolve_formats(const ConvertOptions& options, runtime::Device device) {
  const DType values = *value_dtype_from_name(options.dtype);
  auto formats = parse_formats(options.formats,
                               [=](std::string_view format) { return profile_threshold(format, values); });
  if (!formats) return formats;
  if (Status s = check_distinct(*formats); !s) return tl::unexpected(std::move(s.error()));
  if (Status s = check_convertible(*formats, device); !s) return tl::unexpected(std::move(s.error()));
  return formats;
}

// What decides the contents, not where it came from.
std::string labels_of(const std::vector<FormatChoice>& formats) {
  std::string labels;
  for (const FormatChoice& choice : formats) labels += (labels.empty() ? "" : ",") + choice.label;
  return labels;
}

// Only what decides the contents: the same input and options give the same bytes, whatever the output's name
// and the number of threads.
Parameters root_attributes(const ConvertOptions& options, const std::string& formats,
                           const Ordering& ordering, const LoadedMatrix& source, std::uint64_t seed) {
  const OrderRequest& order = options.order;
  const std::string typed = fmt::format(
      "--format {} --reorder {}{}{} --dtype {}{}{}", formats, order.method,
      order.preset.empty() ? "" : " --preset " + order.preset,
      order.settings.empty() ? "" : fmt::format(" --set {}", fmt::join(order.settings, ",")), options.dtype,
      options.refreshable ? " --refreshable" : "", options.real_part ? " --real-part" : "");
  Parameters attributes = {{"source_name", source.name},
                           {"source_sha256", source.sha256},
                           {"options", typed},
                           {"seed", static_cast<std::int64_t>(seed)}};
  for (auto& [name, value] : order_attributes(ordering)) attributes.emplace_back(name, std::move(value));
  return attributes;
}

// Converts one matrix; members are what the steps hand to each other.
class Conversion {
 public:
  Conversion(Session& session, const ConvertOptions& options, std::vector<FormatChoice> formats,
             Ordering ordering, const OrderObserver& observe)
      : session_(session),
        options_(options),
        formats_(std::move(formats)),
        ordering_(std::move(ordering)),
        observe_(observe),
        dtype_(*value_dtype_from_name(options.dtype)),
        device_(device_named(options.device)) {}

  Result<ConvertReport> run() {
    for (const auto step :
         {&Conversion::read, &Conversion::reorder, &Conversion::add_formats, &Conversion::commit})
      if (Status s = (this->*step)(); !s) return tl::unexpected(std::move(s.error()));
    report_.total = total_.seconds();
    return std::move(report_);
  }

 private:
  Status read();
  Status reorder();
  Status add_formats();
  Status add_format(const FormatChoice& choice);
  Result<ConvertedFormat> make_format(const FormatChoice& choice);
  Status commit();
  Status round_values();
  Status take_overflow(const Overflow& overflow, DType wide_enough);
  void apply_order();

  Session& session_;
  const ConvertOptions& options_;
  const std::vector<FormatChoice> formats_;
  const Ordering ordering_;
  const OrderObserver& observe_;
  const DType dtype_;
  const runtime::Device device_;
  const Stopwatch total_;
  std::optional<formats::BundleWriter> writer_;  // from when the source is read
  Background writing_;
  ConvertReport report_;
  std::shared_ptr<const LoadedMatrix> source_;              // shared with the task that writes it
  std::shared_ptr<const std::vector<std::int32_t>> order_;  // empty: as it stands
  formats::Array rounded_;                                  // values of the formats when not those of /csr
  formats::Csr permuted_;
  formats::Buffer<std::int64_t> positions_;  // with --refreshable: where each entry of matrix_ stands in /csr
  formats::CsrView matrix_;                  // what the formats are made from
  runtime::cuda::UploadedCsr on_device_;     // the same, when a device converts
};

Status Conversion::read() {
  const Stopwatch watch;
  const DType source_type = dtype_ == DType::f64 ? DType::f64 : DType::f32;
  auto loaded = load_matrix(session_, options_.in, {source_type, options_.real_part, true});
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  source_ = std::make_shared<const LoadedMatrix>(std::move(*loaded));
  matrix_ = source_->csr.view();
  report_.read = watch.seconds();
  report_.rows = matrix_.rows;
  report_.cols = matrix_.cols;
  report_.nnz = matrix_.nnz();
  report_.duplicates = source_->duplicates;
  if (Status s = take_overflow(source_->overflow, DType::f64); !s) return s;
  report_.formats.push_back(report_format(formats::as_format(matrix_), 0, {}, {}));
  session_.detail(fmt::format("read {} x {}, {} entries in {}", report_.rows, report_.cols, report_.nnz,
                              human_seconds(report_.read)));
  auto writer = formats::BundleWriter::create(
      options_.out,
      {.force = options_.force,
       .attributes = root_attributes(options_, options_.formats == "all" ? "all" : labels_of(formats_),
                                     ordering_, *source_, session_.common.seed)});
  if (!writer) return tl::unexpected(std::move(writer.error()));
  writer_ = std::move(*writer);
  return writing_.start([this, source = source_] { return writer_->add_csr(source->csr.view()); });
}

Status Conversion::take_overflow(const Overflow& overflow, DType wide_enough) {
  report_.overflowed += overflow.count;
  if (overflow.count == 0 || !options_.strict) return {};
  Error first = *overflow.first;
  first.message +=
      fmt::format("; {}leave out --strict",
                  wide_enough == dtype_ ? "" : fmt::format("--dtype {} or ", name_of(wide_enough)));
  return tl::unexpected(std::move(first));
}

Status Conversion::round_values() {
  if (matrix_.is_pattern() || matrix_.values.dtype == dtype_) return {};
  rounded_ = formats::convert_values(matrix_.values, dtype_);
  const Overflow overflow = find_overflow(matrix_, rounded_.view(), options_.in);
  if (Status s = take_overflow(overflow, DType::f32); !s) return s;
  if (overflow.count > 0)
    session_.warn(fmt::format("{}: values too large for {}, infinite in the formats: {}", options_.in,
                              options_.dtype, overflow.count));
  matrix_.values = rounded_.view();
  return {};
}

// Permutes the matrix and lets go of the source as soon as it is written.
void Conversion::apply_order() {
  permuted_ = formats::permute_rows(matrix_, *order_);
  if (options_.refreshable) positions_ = formats::entry_positions(matrix_, *order_);
  matrix_ = permuted_.view();
  rounded_ = {};
  source_.reset();
}

Status Conversion::reorder() {
  const Stopwatch watch;
  auto order = compute_order(session_, ordering_, matrix_);
  if (!order) return tl::unexpected(std::move(order.error()));
  const double seconds = watch.seconds();
  if (observe_)
    if (Status s = observe_(matrix_, *order, seconds); !s) return s;
  report_.reordered = !order->empty();
  order_ = std::make_shared<const std::vector<std::int32_t>>(std::move(*order));
  if (Status s = round_values(); !s) return s;
  report_.dtype = matrix_.values.dtype;
  if (report_.reordered)
    apply_order();
  else if (options_.refreshable)
    positions_ = formats::entry_positions(matrix_, {});
  report_.reorder = watch.seconds();
  if (!report_.reordered) return {};
  return writing_.start([this, order_kept = order_] { return writer_->add_row_order(*order_kept); });
}

Result<ConvertedFormat> Conversion::make_format(const FormatChoice& choice) {
  const bool with_origin = options_.refreshable && !matrix_.is_pattern();
  if (device_ == runtime::Device::cuda)
    return convert_on_device(on_device_, choice, with_origin, positions_.span());
  const formats::Conversion conversion = choice.conversion();
  auto data = conversion(matrix_, &session_.progress);
  if (!data) return tl::unexpected(std::move(data.error()));
  ConvertedFormat made{std::move(*data), {}};
  if (with_origin) {
    auto origin = formats::value_source(conversion, matrix_, positions_.span());
    if (!origin) return tl::unexpected(std::move(origin.error()));
    made.origin = std::move(*origin);
  }
  return made;
}

Status Conversion::add_format(const FormatChoice& choice) {
  const Stopwatch watch;
  auto made = make_format(choice);
  if (!made) return tl::unexpected(std::move(made.error()));
  report_.formats.push_back(
      report_format(made->data.view(), watch.seconds(), made->data.parameters, choice.why));
  report_.convert += watch.seconds();
  session_.detail(fmt::format("converted to {} in {}", choice.label, human_seconds(watch.seconds())));
  auto product = std::make_shared<const ConvertedFormat>(std::move(*made));
  return writing_.start([this, product] {
    return writer_->add_format(product->data.view(), product->data.parameters, product->origin.view());
  });
}

Status Conversion::add_formats() {
  const bool only_csr = std::all_of(formats_.begin(), formats_.end(), is_csr);
  if (device_ == runtime::Device::cuda && !only_csr) {
    auto uploaded = runtime::cuda::upload_csr(matrix_, 0);
    if (!uploaded) return tl::unexpected(std::move(uploaded.error()));
    on_device_ = std::move(*uploaded);
  }
  for (const FormatChoice& choice : formats_)
    if (!is_csr(choice))  // always there
      if (Status s = add_format(choice); !s) return s;
  return {};
}

Status Conversion::commit() {
  if (Status s = writing_.wait(); !s) return s;
  const Stopwatch watch;
  begin(&session_.progress, "commit", 0);
  const auto bytes = writer_->commit();
  if (!bytes) return tl::unexpected(bytes.error());
  report_.write = writing_.busy_seconds() + watch.seconds();
  report_.file_bytes = *bytes;
  return {};
}

}  // namespace

Result<ConvertReport> convert(Session& session, const ConvertOptions& options, const OrderObserver& observe) {
  if (options.out == "-") return fail(Errc::usage, "a bundle cannot be piped: HDF5 needs a file; name one");
  if (Status s = check_output_name(options.out, FileKind::bundle); !s)
    return tl::unexpected(std::move(s.error()));
  const auto device = known_device(options.device);
  if (!device) return tl::unexpected(device.error());
  auto formats = resolve_formats(options, *device);
  if (!formats) return tl::unexpected(std::move(formats.error()));
  auto ordering = resolve_order(options.order);
  if (!ordering) return tl::unexpected(std::move(ordering.error()));
  // Before the input is read: a bad output or device should cost no waiting.
  if (Status s = check_usable(*device); !s) return tl::unexpected(std::move(s.error()));
  if (const auto probe = formats::AtomicFile::create(options.out, options.force); !probe)
    return tl::unexpected(probe.error());
  return Conversion(session, options, std::move(*formats), std::move(*ordering), observe).run();
}

}  // namespace sptile::tools
