#include <fmt/format.h>

#include <memory>
#include <vector>

#include "formats/io/stream/output_bytes.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/order_options.hpp"
#include "tools/cli/result.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/spy/figure.hpp"
#include "tools/spy/png.hpp"
#include "tools/spy/raster.hpp"

namespace sptile::tools {
namespace {

struct SpyOptions {
  std::string in, out;
  OrderRequest order;
  std::int64_t size = 800;
  bool rows_only = false, force = false;
  InputOptions input;
};

// Returns panels of the original order and, if requested, the new one.
Result<std::vector<spy::Panel>> make_panels(Session& session, const SpyOptions& options,
                                            const Ordering& ordering, const formats::CsrView& a) {
  std::vector<spy::Panel> panels = {
      {spy::rasterise(a, {}, {}, options.size), a.rows, a.cols, "original order"}};
  if (ordering.method->name == "identity") return panels;
  const auto order = compute_order(session, ordering, a);
  if (!order) return tl::unexpected(order.error());
  const bool columns_too = a.rows == a.cols && !options.rows_only;
  panels.push_back(
      {spy::rasterise(a, *order, columns_too ? *order : std::vector<std::int32_t>(), options.size), a.rows,
       a.cols, "ordered by " + ordering.label()});
  return panels;
}

// The image file, and its size in pixels.
struct Picture {
  std::string bytes;
  std::int64_t width = 0, height = 0;
};

// Renders SVG with axes and captions, PNG with the pixels only.
Result<Picture> render(const std::vector<spy::Panel>& panels, const SpyOptions& options,
                       const std::string& name, const formats::CsrView& a) {
  std::vector<spy::Raster> rasters;
  for (const spy::Panel& panel : panels) rasters.push_back(panel.raster);
  const spy::Image image = spy::render(rasters);
  auto bytes =
      named_kind(options.out) == FileKind::svg
          ? spy::draw_document(panels, fmt::format("{}: {} x {}, {} entries; darker pixels have more", name,
                                                   a.rows, a.cols, a.nnz()))
          : spy::encode_png(image);
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  return Picture{std::move(*bytes), image.width, image.height};
}

Status write_bytes(const std::string& path, bool force, const std::string& bytes) {
  auto output = formats::OutputBytes::create(path, force);
  if (!output) return tl::unexpected(std::move(output.error()));
  if (Status s = output->write(bytes); !s) return s;
  return output->commit();
}

Status run_spy(Session& session, const SpyOptions& options) {
  const bool drawing = named_kind(options.out) == FileKind::svg;
  if (const Status s = check_stdout_free(session, options.out); !s) return s;
  if (const Status s = check_output_name(options.out, drawing ? FileKind::svg : FileKind::png); !s) return s;
  const auto ordering = resolve_order(options.order);
  if (!ordering) return tl::unexpected(ordering.error());
  // Checks the output before reading the input, so that errors are reported early.
  if (const auto probe = formats::OutputBytes::create(options.out, options.force); !probe)
    return tl::unexpected(probe.error());
  const auto loaded = load_matrix(session, options.in, options.input.load(DType::f32));
  if (!loaded) return tl::unexpected(loaded.error());
  const formats::CsrView a = loaded->csr.view();
  const auto panels = make_panels(session, options, *ordering, a);
  if (!panels) return tl::unexpected(panels.error());
  const auto picture = render(*panels, options, loaded->name, a);
  if (!picture) return tl::unexpected(picture.error());
  const Status written = write_bytes(options.out, options.force, picture->bytes);
  if (!written || options.out == "-") return written;

  Json json = new_result(session);
  json.update({{"input", options.in}, {"output", options.out}, {"reorder", ordering->label()}});
  json.update({{"rows", a.rows}, {"cols", a.cols}, {"nnz", a.nnz()}});
  json.update({{"width", picture->width}, {"height", picture->height}, {"panels", panels->size()}});
  if (session.common.json || !session.common.quiet)
    print_result(
        session, json,
        fmt::format("{}: {} x {} pixels, {} x {} with {} entries{}\n", options.out, picture->width,
                    picture->height, a.rows, a.cols, a.nnz(),
                    panels->size() > 1 ? ", in original order and ordered by " + ordering->label() : ""));
  return {};
}

Action declare_spy(Options& app) {
  auto options = std::make_shared<SpyOptions>();
  declare_matrix(app, options->in);
  app.add_option("-o,--output FILE", options->out,
                 "Image to write (.png or .svg); - is a PNG on standard output")
      .required()
      .details("A PNG contains only the pixels. An SVG also has axes and captions.");
  declare_order(app, options->order, "--reorder METHOD", "Show a second panel in this ordering");
  app.add_option("--size PIXELS", options->size, "Longer side of a panel").range(16, 4096).unit("pixels");
  app.add_flag("--rows-only", options->rows_only, "Keep the columns of a square matrix in their order")
      .details(
          "Formats permute rows only. Without this option, columns follow the rows, which makes bands and "
          "communities visible.");
  declare_input(app, options->input);
  app.add_force(options->force);
  return [options](Session& session) { return run_spy(session, *options); };
}
}  // namespace

const Verb kSpy = {.name = "spy",
                   .summary = "Render the sparsity pattern as an image (spy plot)",
                   .details =
                       "Each pixel shows the number of nonzeros on a logarithmic gray scale; white is empty. "
                       "The shorter side "
                       "is at least a sixth of the longer one.",
                   .json_keys = "`rows`, `cols`, `nnz`, `reorder`, `width`, `height`, `panels`.",
                   .example = "  sptile spy matrix.mtx -o matrix.png --reorder rcm --size 600",
                   .declare = declare_spy};

}  // namespace sptile::tools
