#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/io/atomic_file.hpp"
#include "formats/io/bundle_writer.hpp"
#include "formats/layout/csr.hpp"
#include "reorder/registry.hpp"
#include "tools/background.hpp"
#include "tools/commands/commands.hpp"
#include "tools/input.hpp"
#include "tools/names.hpp"
#include "tools/order.hpp"
#include "tools/result.hpp"
#include "tools/stopwatch.hpp"
#include "tools/table.hpp"
#include "tools/units.hpp"

namespace sptile::tools {
namespace {

struct ConvertOptions {
  std::string in, out, formats = "all", reorder = "identity", dtype = "f32";
  int window_rows = 8;
  bool refreshable = false, real_part = false, force = false;
};

struct FormatReport {
  std::string name;
  std::int64_t tc_blocks, index_bytes, value_bytes;
  double seconds;
  Parameters parameters;
};

struct ConvertReport {
  std::int64_t rows, cols, nnz, duplicates;
  std::vector<FormatReport> formats;
  double read = 0, reorder = 0, convert = 0, write = 0, total = 0;
  bool reordered = false;
  DType dtype = DType::none;  // of the values in the formats
  std::uint64_t file_bytes = 0;
};

FormatReport report_format(const formats::FormatView& view, double seconds, Parameters parameters) {
  return {std::string(view.layout->name),
          view.layout->tc_blocks(view),
          formats::index_bytes(view),
          formats::value_bytes(view),
          seconds,
          std::move(parameters)};
}

// Only what decides the contents: the same input and options give the same bytes, whatever the output's name
// and the number of threads.
Parameters root_attributes(const ConvertOptions& options, const LoadedMatrix& source, std::uint64_t seed) {
  const std::string typed =
      fmt::format("--format {} --reorder {} --dtype {}{}{}", options.formats, options.reorder, options.dtype,
                  options.refreshable ? " --refreshable" : "", options.real_part ? " --real-part" : "");
  Parameters attributes = {{"source_name", source.name},
                           {"source_sha256", source.sha256},
                           {"options", typed},
                           {"seed", static_cast<std::int64_t>(seed)},
                           {"ordering", options.reorder}};
  if (options.reorder != "identity")
    attributes.emplace_back("ordering_window_rows", std::int64_t{options.window_rows});
  return attributes;
}

std::int64_t count_infinite(ArrayView values) {
  const formats::Array wide = formats::convert_values(values, DType::f32);
  const auto numbers = wide.as<float>();
  return std::count_if(numbers.begin(), numbers.end(), [](float x) { return x - x != 0; });
}

// Converts one matrix; members are what the steps hand to each other.
class Conversion {
 public:
  Conversion(Session& session, const ConvertOptions& options, std::vector<std::string> names)
      : session_(session),
        options_(options),
        names_(std::move(names)),
        dtype_(*value_dtype_from_name(options.dtype)) {}

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
  Status add_format(const formats::Converter& converter);
  Status commit();
  void round_values();
  void apply_order();

  Session& session_;
  const ConvertOptions& options_;
  const std::vector<std::string> names_;
  const DType dtype_;
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
  report_.formats.push_back(report_format(formats::as_format(matrix_), 0, {}));
  session_.detail(fmt::format("read {} x {}, {} entries in {}", report_.rows, report_.cols, report_.nnz,
                              human_seconds(report_.read)));
  auto writer = formats::BundleWriter::create(
      options_.out,
      {.force = options_.force, .attributes = root_attributes(options_, *source_, session_.common.seed)});
  if (!writer) return tl::unexpected(std::move(writer.error()));
  writer_ = std::move(*writer);
  return writing_.start([this, source = source_] { return writer_->add_csr(source->csr.view()); });
}

void Conversion::round_values() {
  if (matrix_.is_pattern() || matrix_.values.dtype == dtype_) return;
  rounded_ = formats::convert_values(matrix_.values, dtype_);
  const std::int64_t before = count_infinite(matrix_.values), after = count_infinite(rounded_.view());
  if (after > before)
    session_.note(fmt::format("{}: values too large for {}, infinite in the formats: {}", options_.in,
                              options_.dtype, after - before));
  matrix_.values = rounded_.view();
}

// Permutes the matrix and lets go of the source as soon as it is written.
void Conversion::apply_order() {
  permuted_ = formats::permute_rows(matrix_, *order_);
  if (options_.refreshable) positions_ = entry_positions(matrix_, *order_);
  matrix_ = permuted_.view();
  rounded_ = {};
  source_.reset();
}

Status Conversion::reorder() {
  const Stopwatch watch;
  const reorder::Reorderer& method = *reorder::find_reorderer(options_.reorder);
  auto order = compute_order(session_, method, matrix_, options_.window_rows);
  if (!order) return tl::unexpected(std::move(order.error()));
  report_.reordered = !order->empty();
  order_ = std::make_shared<const std::vector<std::int32_t>>(std::move(*order));
  round_values();
  report_.dtype = matrix_.values.dtype;
  if (report_.reordered)
    apply_order();
  else if (options_.refreshable)
    positions_ = entry_positions(matrix_, {});
  report_.reorder = watch.seconds();
  if (!report_.reordered) return {};
  return writing_.start([this, order_kept = order_] { return writer_->add_row_order(*order_kept); });
}

Status Conversion::add_format(const formats::Converter& converter) {
  const Stopwatch watch;
  auto data = converter.from_csr(matrix_, &session_.progress);
  if (!data) return tl::unexpected(std::move(data.error()));
  formats::Array origin;
  if (options_.refreshable && !matrix_.is_pattern()) {
    auto made = formats::value_source(converter, matrix_, positions_.span());
    if (!made) return tl::unexpected(std::move(made.error()));
    origin = std::move(*made);
  }
  report_.formats.push_back(report_format(data->view(), watch.seconds(), data->parameters));
  report_.convert += watch.seconds();
  session_.detail(fmt::format("converted to {} in {}", converter.format, human_seconds(watch.seconds())));
  struct Product {
    formats::FormatData data;
    formats::Array origin;
  };
  auto product = std::make_shared<const Product>(Product{std::move(*data), std::move(origin)});
  return writing_.start([this, product] {
    return writer_->add_format(product->data.view(), product->data.parameters, product->origin.view());
  });
}

Status Conversion::add_formats() {
  for (const std::string& name : names_)
    if (name != "csr")  // always there
      if (Status s = add_format(*formats::find_converter(name)); !s) return s;
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

Json format_json(const FormatReport& format) {
  Json json = {{"name", format.name},
               {"tc_blocks", format.tc_blocks},
               {"index_bytes", format.index_bytes},
               {"value_bytes", format.value_bytes},
               {"seconds", format.seconds}};
  if (!format.parameters.empty()) json["parameters"] = to_json(format.parameters);
  return json;
}

Json convert_json(const Session& session, const ConvertOptions& options, const ConvertReport& report) {
  Json json = new_result(session);
  json.update({{"input", options.in}, {"output", options.out}});
  json.update({{"rows", report.rows}, {"cols", report.cols}, {"nnz", report.nnz}});
  json.update({{"duplicates", report.duplicates},
               {"dtype", dtype_label(report.dtype)},
               {"reorder", options.reorder}});
  json.update(
      {{"row_order", report.reordered}, {"seed", session.common.seed}, {"file_bytes", report.file_bytes}});
  json["formats"] = Json::array();
  for (const FormatReport& format : report.formats) json["formats"].push_back(format_json(format));
  json["seconds"] = {{"read", report.read},
                     {"reorder", report.reorder},
                     {"convert", report.convert},
                     {"write", report.write},
                     {"total", report.total}};
  return json;
}

std::string convert_text(const ConvertOptions& options, const ConvertReport& report) {
  std::vector<std::vector<std::string>> rows = {{"format", "tc blocks", "index", "values", "time"}};
  for (const FormatReport& f : report.formats)
    rows.push_back({f.name, f.tc_blocks > 0 ? fmt::format("{}", f.tc_blocks) : "-",
                    human_bytes(f.index_bytes), human_bytes(f.value_bytes),
                    f.name == "csr" ? "-" : human_seconds(f.seconds)});
  return fmt::format("{}: {} x {}, {} entries, rows {}\n\n{}\nread {}, reorder {}, write {}, all {} ({})\n",
                     options.out, report.rows, report.cols, report.nnz,
                     report.reordered ? "ordered by " + options.reorder : "in their own order",
                     format_table(rows, "lrrrr"), human_seconds(report.read), human_seconds(report.reorder),
                     human_seconds(report.write), human_seconds(report.total),
                     human_bytes(static_cast<std::int64_t>(report.file_bytes)));
}

Status run_convert(Session& session, const ConvertOptions& options) {
  if (options.out == "-") return fail(Errc::usage, "a bundle cannot be piped: HDF5 needs a file; name one");
  auto names = parse_names("format", options.formats, format_names());
  if (!names) return tl::unexpected(std::move(names.error()));
  if (reorder::find_reorderer(options.reorder) == nullptr)
    return tl::unexpected(unknown_name("reorderer", options.reorder, names_of(reorder::reorderers())));
  // Before the input is read: a bad output should cost no waiting.
  if (const auto probe = formats::AtomicFile::create(options.out, options.force); !probe)
    return tl::unexpected(probe.error());
  auto report = Conversion(session, options, std::move(*names)).run();
  if (!report) return tl::unexpected(std::move(report.error()));
  if (session.common.json || !session.common.quiet)
    print_result(session, convert_json(session, options, *report), convert_text(options, *report));
  return {};
}

Action declare_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  app.add_option("IN", options->in,
                 "matrix: Matrix Market (also .gz, .xz, .zst; -: standard input) or a bundle")
      ->required();
  app.add_option("OUT", options->out, "bundle to write (.h5)")->required();
  app.add_option("--format", options->formats, "formats to store beside csr: all, or names with commas");
  app.add_option("--reorder", options->reorder,
                 "order of the rows inside the formats ('sptile list reorderers')");
  app.add_option("--window-rows", options->window_rows, "window height that orderings aim at")
      ->check(CLI::Range(1, 1024));
  app.add_option("--dtype", options->dtype, "type of the stored values")
      ->check(CLI::IsMember({"f32", "f64", "f16", "bf16"}));
  app.add_flag("--refreshable", options->refreshable,
               "store where each value comes from, so values can be replaced");
  app.add_flag("--real-part", options->real_part, "take the real part of a complex matrix");
  declare_force(app, options->force);
  return [options](Session& session) { return run_convert(session, *options); };
}
}  // namespace

const Verb kConvert = {"convert", "read a matrix, order its rows, convert it, write a bundle",
                       "  sptile convert matrix.mtx matrix.h5 --format bittcf,rs_tile --reorder degree",
                       declare_convert};

}  // namespace sptile::tools
