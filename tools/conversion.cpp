#include "tools/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "formats/convert/converters.hpp"
#include "formats/io/bundle_writer.hpp"
#include "formats/layout/csr.hpp"
#include "formats/row_order.hpp"
#include "tools/background.hpp"
#include "tools/device_conversion.hpp"
#include "tools/input.hpp"
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

bool is_csr(const FormatChoice& choice) { return choice.layout->name == "csr"; }

// Only what decides the contents: the same input and options give the same bytes, whatever the output's name
// and the number of threads.
Parameters root_attributes(const ConvertTask& task, const LoadedMatrix& source, std::uint64_t seed) {
  const std::string typed = fmt::format(
      "--format {} --reorder {} --dtype {}{}{}", task.format_labels, task.ordering.typed, name_of(task.dtype),
      task.refreshable ? " --refreshable" : "", task.real_part ? " --real-part" : "");
  Parameters attributes = {{"source_name", source.name},
                           {"source_sha256", source.sha256},
                           {"options", typed},
                           {"seed", static_cast<std::int64_t>(seed)}};
  for (auto& [name, value] : order_attributes(task.ordering)) attributes.emplace_back(name, std::move(value));
  return attributes;
}

// Converts one matrix; members are what the steps hand to each other.
class Conversion {
 public:
  Conversion(Session& session, const ConvertTask& task, const OrderObserver& observe)
      : session_(session), task_(task), observe_(observe) {}

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
  const ConvertTask& task_;
  const OrderObserver& observe_;
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
  const DType source_type = task_.dtype == DType::f64 ? DType::f64 : DType::f32;
  auto loaded = load_matrix(session_, task_.in, {source_type, task_.real_part, true});
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
      task_.out,
      {.force = task_.force, .attributes = root_attributes(task_, *source_, session_.common.seed)});
  if (!writer) return tl::unexpected(std::move(writer.error()));
  writer_ = std::move(*writer);
  return writing_.start([this, source = source_] { return writer_->add_csr(source->csr.view()); });
}

Status Conversion::take_overflow(const Overflow& overflow, DType wide_enough) {
  report_.overflowed += overflow.count;
  if (overflow.count == 0 || !task_.strict) return {};
  Error first = *overflow.first;
  first.message +=
      fmt::format("; {}leave out --strict",
                  wide_enough == task_.dtype ? "" : fmt::format("--dtype {} or ", name_of(wide_enough)));
  return tl::unexpected(std::move(first));
}

Status Conversion::round_values() {
  if (matrix_.is_pattern() || matrix_.values.dtype == task_.dtype) return {};
  rounded_ = formats::convert_values(matrix_.values, task_.dtype);
  const Overflow overflow = find_overflow(matrix_, rounded_.view(), task_.in);
  if (Status s = take_overflow(overflow, DType::f32); !s) return s;
  if (overflow.count > 0)
    session_.warn(fmt::format("{}: values too large for {}, infinite in the formats: {}", task_.in,
                              name_of(task_.dtype), overflow.count));
  matrix_.values = rounded_.view();
  return {};
}

// Permutes the matrix and lets go of the source as soon as it is written.
void Conversion::apply_order() {
  permuted_ = formats::permute_rows(matrix_, *order_);
  if (task_.refreshable) positions_ = formats::entry_positions(matrix_, *order_);
  matrix_ = permuted_.view();
  rounded_ = {};
  source_.reset();
}

Status Conversion::reorder() {
  const Stopwatch watch;
  auto order = compute_order(session_, task_.ordering, matrix_);
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
  else if (task_.refreshable)
    positions_ = formats::entry_positions(matrix_, {});
  report_.reorder = watch.seconds();
  if (!report_.reordered) return {};
  return writing_.start([this, order_kept = order_] { return writer_->add_row_order(*order_kept); });
}

Result<ConvertedFormat> Conversion::make_format(const FormatChoice& choice) {
  const bool with_origin = task_.refreshable && !matrix_.is_pattern();
  if (task_.device == runtime::Device::cuda)
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
  const bool only_csr = std::all_of(task_.formats.begin(), task_.formats.end(), is_csr);
  if (task_.device == runtime::Device::cuda && !only_csr) {
    auto uploaded = runtime::cuda::upload_csr(matrix_, 0);
    if (!uploaded) return tl::unexpected(std::move(uploaded.error()));
    on_device_ = std::move(*uploaded);
  }
  for (const FormatChoice& choice : task_.formats)
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

Result<ConvertReport> convert(Session& session, const ConvertTask& task, const OrderObserver& observe) {
  return Conversion(session, task, observe).run();
}

}  // namespace sptile::tools
