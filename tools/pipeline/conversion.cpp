#include "tools/pipeline/conversion.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "formats/convert/converters.hpp"
#include "formats/core/narrow_values.hpp"
#include "formats/core/row_order.hpp"
#include "formats/io/files/available_memory.hpp"
#include "formats/io/hdf5/bundle_writer.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/core/symmetry.hpp"
#include "runtime/core/transpose.hpp"
#include "tools/pipeline/background.hpp"
#include "tools/pipeline/device_conversion.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

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

// Contains only what determines the contents: equal input and options give equal bytes, independent of the
// output's name and the number of threads.
Parameters root_attributes(const ConvertTask& task, const LoadedMatrix& source, std::uint64_t seed) {
  const std::string typed =
      fmt::format("--format {} --reorder {} --dtype {}{}{}{}", task.format_labels, task.ordering.typed,
                  name_of(task.dtype), task.refreshable ? " --refreshable" : "",
                  task.transpose ? " --transpose" : "", task.real_part ? " --real-part" : "");
  Parameters attributes = {{"source_name", source.name},
                           {"source_sha256", source.sha256},
                           {"options", typed},
                           {"seed", static_cast<std::int64_t>(seed)}};
  for (auto& [name, value] : order_attributes(task.ordering)) attributes.emplace_back(name, std::move(value));
  return attributes;
}

// A sparse file in memory for the layout of a bundle in a dry run.
class FileOfHoles {
 public:
  FileOfHoles() : fd_(::memfd_create("sptile-dry-run", MFD_CLOEXEC)) {}
  FileOfHoles(const FileOfHoles&) = delete;
  FileOfHoles& operator=(const FileOfHoles&) = delete;
  ~FileOfHoles() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

std::int64_t peak_memory_of_process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} << 10;
}

// Converts one matrix. Members are passed between the steps.
class Conversion {
 public:
  Conversion(Work& work, const ConvertTask& task, const OrderObserver& observe)
      : work_(work), task_(task), observe_(observe) {}

  Result<ConvertReport> run() {
    for (const auto step : {&Conversion::read, &Conversion::look_for_symmetry, &Conversion::convert_side,
                            &Conversion::transpose, &Conversion::commit})
      if (Status s = cancelled(&work_.progress) ? fail(Errc::io, "cancelled") : (this->*step)(); !s)
        return tl::unexpected(std::move(s.error()));
    report_.total = total_.seconds() + (task_.dry_run ? report_.write : 0);
    return std::move(report_);
  }

 private:
  Result<std::shared_ptr<const LoadedMatrix>> load();
  Status read();
  Status look_for_symmetry();
  Status convert_side();
  Status transpose();
  Status reorder();
  Status add_formats();
  Status add_format(const FormatChoice& choice);
  Result<ConvertedFormat> make_format(const FormatChoice& choice);
  Status commit();
  Status round_values();
  Status record_loss(const formats::ValueLoss& loss, DType wide_enough);
  Result<std::vector<std::int32_t>> compute_rows(OrderChoice& choice);
  void apply_order();
  void find_positions();
  Status write_transposed_source(const ConvertedFormat& made);
  [[nodiscard]] bool with_origin() const { return task_.refreshable && !matrix_.is_pattern(); }
  [[nodiscard]] bool shares_formats() const { return task_.transpose && report_.symmetric; }
  /// Formats are created on a device, which also permutes the rows.
  [[nodiscard]] bool converts_on_device() const {
    return task_.device == runtime::Device::cuda && !std::ranges::all_of(task_.formats, is_csr);
  }
  Status upload(std::span<const std::int32_t> row_order);
  std::vector<FormatReport>& reports() {
    return side_ == formats::Side::matrix ? report_.formats : report_.transpose->formats;
  }

  std::string choices_;  // choices made by sptile and their reasons, one per line
  Work& work_;
  const ConvertTask& task_;
  const OrderObserver& observe_;
  const Stopwatch total_;
  std::optional<FileOfHoles> holes_;             // for a dry run
  std::optional<formats::BundleWriter> writer_;  // set once the source is read
  Background writing_;
  ConvertReport report_;
  formats::Side side_ = formats::Side::matrix;              // side being converted: A, then A^T
  std::int64_t largest_ = 0;                                // maximum bytes of a format
  std::shared_ptr<const LoadedMatrix> source_;              // shared with the task that writes it
  bool integers_ = false;                                   // the values of the source are integers
  std::shared_ptr<const runtime::TransposedCsr> turned_;    // if A^T, or its value_source, is requested
  std::shared_ptr<const std::vector<std::int32_t>> order_;  // new_to_old; empty: original order
  formats::Array rounded_;  // values of the formats if they differ from those of /csr
  formats::Csr permuted_;
  formats::Buffer<std::int64_t> positions_;  // with --refreshable: position in /csr of each entry of matrix_
  formats::CsrView matrix_;                  // input of the format conversions
  runtime::cuda::UploadedCsr on_device_;     // the same matrix on a device that converts, with its row order
  runtime::cuda::DeviceOrder device_order_;  // the row order if that device computed it
};

Result<std::shared_ptr<const LoadedMatrix>> Conversion::load() {
  if (task_.matrix) return task_.matrix;
  return load_matrix(work_, task_.in,
                     {source_type(task_.dtype), task_.real_part, true, task_.edges, task_.from})
      .map([](LoadedMatrix&& loaded) { return std::make_shared<const LoadedMatrix>(std::move(loaded)); });
}

Status Conversion::read() {
  const Stopwatch watch;
  auto loaded = load();
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  source_ = std::move(*loaded);
  integers_ = source_->integers;
  matrix_ = source_->csr.view();
  report_.read = watch.seconds();
  report_.rows = matrix_.rows;
  report_.cols = matrix_.cols;
  report_.nnz = matrix_.nnz();
  report_.duplicates = source_->duplicates;
  if (Status s = record_loss(source_->loss, DType::f64); !s) return s;
  report_.formats.push_back(report_format(formats::as_format(matrix_), 0, {}, {}));
  work_.detail(fmt::format("read {} x {}, {} entries in {}", report_.rows, report_.cols, report_.nnz,
                           human_seconds(report_.read)));
  if (task_.dry_run && holes_.emplace().fd() < 0)
    return fail(Errc::io,
                fmt::format("cannot create a file in memory for a dry run: {}", std::strerror(errno)));
  auto writer =
      formats::BundleWriter::create(task_.out, {.force = task_.force,
                                                .group = task_.group,
                                                .fd = task_.dry_run ? holes_->fd() : task_.fd,
                                                .layout_only = task_.dry_run,
                                                .attributes = root_attributes(task_, *source_, work_.seed)});
  if (!writer) return tl::unexpected(std::move(writer.error()));
  writer_ = std::move(*writer);
  return writing_.start([this, source = source_] { return writer_->add_csr(source->csr.view()); });
}

Status Conversion::record_loss(const formats::ValueLoss& loss, DType wide_enough) {
  report_.lost += loss;
  if (!loss.any() || !task_.strict) return {};
  Error first = loss.first.value_or(Error{Errc::bad_input, "values that their type cannot represent", {}});
  if (first.where.empty()) first.where = task_.in;
  first.message +=
      fmt::format("; {}omit --strict",
                  wide_enough == task_.dtype ? "" : fmt::format("--dtype {} or ", name_of(wide_enough)));
  return tl::unexpected(std::move(first));
}

Status Conversion::look_for_symmetry() {
  // Memory of is_symmetric: one position per row, then the ordered rows.
  if (Status s = formats::check_row_memory(matrix_.rows, 8); !s) return s;
  report_.symmetric = runtime::is_symmetric(matrix_);
  if (task_.transpose) report_.transpose.emplace();
  if (Status s = writing_.start([this] { return writer_->add_symmetry(report_.symmetric); }); !s) return s;
  if (!shares_formats() || !with_origin()) return {};
  turned_ = std::make_shared<const runtime::TransposedCsr>(runtime::transpose(matrix_));
  return writing_.start(
      [this] { return writer_->add_transposed_source(formats::kCsrLayout, ArrayView(turned_->source())); });
}

Status Conversion::convert_side() {
  Status s = reorder();
  return s ? add_formats() : s;
}

// A^T is processed like A, starting from its CSR arrays.
Status Conversion::transpose() {
  if (!task_.transpose) return {};
  if (shares_formats()) {
    report_.transpose->reordered = report_.reordered;
    return {};
  }
  const Stopwatch watch;
  begin(&work_.progress, "transpose", 0);
  side_ = formats::Side::transpose;
  permuted_ = {}, rounded_ = {}, positions_ = {};
  turned_ = std::make_shared<const runtime::TransposedCsr>(runtime::transpose(source_->csr.view()));
  source_.reset();
  matrix_ = turned_->view();
  reports().push_back(report_format(formats::as_format(matrix_), watch.seconds(), {}, {}));
  report_.convert += watch.seconds();
  const auto csr = [this, turned = turned_] {
    const ArrayView origin = task_.refreshable && turned->values ? ArrayView(turned->source()) : ArrayView();
    return writer_->add_format(formats::as_format(turned->view()), {}, origin, formats::Side::transpose);
  };
  if (Status s = writing_.start(csr); !s) return s;
  return convert_side();
}

Status Conversion::round_values() {
  if (matrix_.is_pattern() || matrix_.values.dtype == task_.dtype) return {};
  formats::ValueLoss loss;
  rounded_ = formats::narrow_values(matrix_, task_.dtype, integers_, task_.in, loss);
  matrix_.values = rounded_.view();
  if (side_ == formats::Side::transpose) return {};  // A^T has the values of A
  if (Status s = record_loss(loss, DType::f32); !s) return s;
  for (const std::string& sentence : describe_losses(loss, task_.dtype, "{} in the formats"))
    work_.warn(fmt::format("{}: {}", task_.in, sentence));
  return {};
}

Status Conversion::upload(std::span<const std::int32_t> row_order) {
  const Stopwatch watch;
  on_device_ = {}, device_order_ = {};
  auto uploaded = runtime::cuda::upload_csr(matrix_, 0, row_order);
  if (!uploaded) return tl::unexpected(std::move(uploaded.error()));
  on_device_ = std::move(*uploaded);
  work_.detail(fmt::format("uploaded in {}", human_seconds(watch.seconds())));
  return {};
}

// Computes the order. A device that converts receives the matrix, before the order if it computes that, too.
Result<std::vector<std::int32_t>> Conversion::compute_rows(OrderChoice& choice) {
  if (!converts_on_device()) return compute_order(work_, task_.ordering, matrix_, &choice);
  if (task_.ordering.device == runtime::Device::cpu) {
    auto order = compute_order(work_, task_.ordering, matrix_, &choice);
    if (!order) return order;
    if (Status s = upload(*order); !s) return tl::unexpected(std::move(s.error()));
    return order;
  }
  if (Status s = upload({}); !s) return tl::unexpected(std::move(s.error()));
  auto order = compute_order(work_, task_.ordering, on_device_.csr);
  if (!order) return tl::unexpected(std::move(order.error()));
  device_order_ = std::move(order->on_device);
  on_device_.csr.row_order = device_order_.new_to_old;
  return std::move(order->new_to_old);
}

// Permutes the matrix. Frees the source once it is written and, if requested, transposed.
void Conversion::apply_order() {
  permuted_ = formats::permute_rows(matrix_, *order_);
  matrix_ = permuted_.view();
  rounded_ = {};
  if (!task_.transpose || shares_formats()) source_.reset();
  if (side_ == formats::Side::transpose) turned_.reset();
}

// A device returns positions before the order of rows.
void Conversion::find_positions() {
  if (!task_.refreshable) return;
  const bool of_transpose = side_ == formats::Side::transpose;
  if (converts_on_device() && !of_transpose) return;
  positions_ = formats::entry_positions(
      matrix_, converts_on_device() ? std::span<const std::int32_t>() : std::span(*order_));
  if (of_transpose)
    for (std::int64_t& position : positions_.span())
      position = turned_->source()[static_cast<std::size_t>(position)];
}

Status Conversion::reorder() {
  const Stopwatch watch;
  const bool of_matrix = side_ == formats::Side::matrix;
  OrderChoice& choice = of_matrix ? report_.order_choice : report_.transpose->order_choice;
  if (Status s = round_values(); !s) return s;
  report_.dtype = matrix_.values.dtype;
  auto order = compute_rows(choice);
  if (!order) return tl::unexpected(std::move(order.error()));
  const double seconds = watch.seconds();
  const bool reordered = !order->empty();
  if (!choice.chosen.empty())
    choices_ +=
        fmt::format("order{}: {}, {}\n", of_matrix ? "" : " of the transpose", choice.chosen, choice.why);
  if (observe_ && of_matrix)
    if (Status s = observe_(matrix_, *order, seconds); !s) return s;
  (of_matrix ? report_.reordered : report_.transpose->reordered) = reordered;
  order_ = std::make_shared<const std::vector<std::int32_t>>(std::move(*order));
  find_positions();
  if (reordered && !converts_on_device()) apply_order();
  report_.reorder += watch.seconds();
  if (!reordered) return {};
  return writing_.start(
      [this, order_kept = order_, side = side_] { return writer_->add_row_order(*order_kept, side); });
}

Result<ConvertedFormat> Conversion::make_format(const FormatChoice& choice) {
  if (task_.device == runtime::Device::cuda)
    return convert_on_device(on_device_, choice, with_origin(), positions_.span());
  const formats::Conversion conversion = choice.conversion();
  auto data = conversion(matrix_, &work_.progress);
  if (!data) return tl::unexpected(std::move(data.error()));
  ConvertedFormat made{std::move(*data), {}};
  if (with_origin()) {
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
  const std::string why = choice.why.empty() ? "" : fmt::format("{} ({})", choice.why, choice.source);
  reports().push_back(report_format(made->data.view(), watch.seconds(), made->data.parameters, why));
  if (!choice.why.empty() && side_ == formats::Side::matrix)
    choices_ += fmt::format("{}: {} from {}\n", choice.label, choice.layout->parameter->name, choice.why);
  report_.convert += watch.seconds();
  work_.detail(fmt::format("converted to {} in {}", choice.label, human_seconds(watch.seconds())));
  auto product = std::make_shared<const ConvertedFormat>(std::move(*made));
  const formats::FormatView view = product->data.view();
  largest_ = std::max(
      largest_, formats::index_bytes(view) + formats::value_bytes(view) + product->origin.view().bytes());
  const auto write = [this, product, side = side_] {
    return writer_->add_format(product->data.view(), product->data.parameters, product->origin.view(), side);
  };
  if (Status s = writing_.start(write); !s || !shares_formats() || !with_origin()) return s;
  return write_transposed_source(*product);
}

// Source position of entry (i, j) of A^T, which equals entry (i, j) of a symmetric A: that of (j, i).
Status Conversion::write_transposed_source(const ConvertedFormat& made) {
  auto source = std::make_shared<formats::Array>(DType::i64, made.origin.size());
  const auto origin = made.origin.view().as<std::int64_t>();
  for (std::size_t i = 0; i < origin.size(); ++i)
    source->as<std::int64_t>()[i] = turned_->source()[static_cast<std::size_t>(origin[i])];
  return writing_.start([this, source, layout = made.data.layout] {
    return writer_->add_transposed_source(*layout, source->view());
  });
}

Status Conversion::add_formats() {
  for (const FormatChoice& choice : task_.formats)
    if (!is_csr(choice))  // CSR is always present
      if (Status s = add_format(choice); !s) return s;
  return {};
}

Status Conversion::commit() {
  if (Status s = writing_.wait(); !s) return s;
  const Stopwatch watch;
  begin(&work_.progress, "commit", 0);
  if (Status s = choices_.empty() ? Status() : writer_->add_choices(choices_); !s) return s;
  const auto bytes = writer_->commit();
  if (!bytes) return tl::unexpected(bytes.error());
  report_.write = writing_.busy_seconds() + watch.seconds();
  report_.file_bytes = *bytes;
  report_.peak_memory = peak_memory_of_process();
  if (task_.dry_run) {
    report_.write = static_cast<double>(*bytes) / kAssumedWriteRate;
    report_.peak_memory += 2 * largest_;
  }
  return {};
}

}  // namespace

Result<ConvertReport> convert(Work& work, const ConvertTask& task, const OrderObserver& observe) {
  return Conversion(work, task, observe).run();
}

}  // namespace sptile::tools
