#include <fmt/format.h>

#include "tools/bundle/rebuild.hpp"
#include "tools/cli/json.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

struct ExportOptions {
  std::string bundle, out, from = "csr";
  bool force = false;
};

Status run_export(Session& session, const ExportOptions& options) {
  if (const Status s = check_stdout_free(session, options.out); !s) return s;
  const auto kind = kind_to_write(options.out);
  if (!kind) return tl::unexpected(kind.error());
  const Stopwatch total;
  const auto bundle = open_bundle(session, options.bundle);
  if (!bundle) return tl::unexpected(bundle.error());
  const auto view = held_format(**bundle, options.bundle, options.from);
  if (!view) return tl::unexpected(view.error());
  auto csr = rebuild_matrix(**bundle, **view);
  if (!csr) return fail(csr.error().code, csr.error().message, options.bundle);
  // Text does not state the width of its values: 16-bit values are written as f32, so that all readers get
  // the same numbers.
  const DType dtype = csr->values.dtype();
  if (dtype == DType::bf16 || (dtype == DType::f16 && !(*kind)->keeps_f16))
    csr->values = formats::convert_values(csr->values.view(), DType::f32);
  const Status written = (*kind)->write(csr->view(), options.out, options.force, &session.progress);
  if (!written || options.out == "-") return written;
  Json json = new_result(session);
  json.update({{"bundle", options.bundle}, {"output", options.out}, {"from", options.from}});
  json.update({{"rows", csr->rows}, {"cols", csr->cols}, {"nnz", csr->nnz()}});
  json["dtype"] = dtype_label(csr->values.dtype());
  json["seconds"] = {{"total", total.seconds()}};
  if (session.common.json || !session.common.quiet)
    print_result(session, json,
                 fmt::format("{}: {} x {}, {} entries from {}, {}\n", options.out, csr->rows, csr->cols,
                             csr->nnz(), options.from, human_seconds(total.seconds())));
  return {};
}

Action declare_export(Options& app) {
  auto options = std::make_shared<ExportOptions>();
  app.add_option("BUNDLE", options->bundle, "Bundle to read").required();
  app.add_option("OUT,-o,--output", options->out, "Matrix to write; - is standard output")
      .required()
      .details(
          "The file ending selects the format: " + writable_kinds() +
          ". Text files may be compressed (.gz, .xz, .zst). Text has the shortest decimal numbers that read "
          "back exactly.");
  app.add_option("--from FORMAT", options->from, "Stored format to convert back")
      .names("format", format_names());
  app.add_force(options->force);
  return [options](Session& session) { return run_export(session, *options); };
}
}  // namespace

const Verb kExport = {.name = "export",
                      .summary = "Write the matrix of a bundle in its original row order",
                      .details = "Values are exact.",
                      .json_keys = "`rows`, `cols`, `nnz`, `from`, `dtype`.",
                      .example = "  sptile export matrix.h5 back.mtx --from rs_tile",
                      .declare = declare_export,
                      .output_ending = ".mtx"};

}  // namespace sptile::tools
