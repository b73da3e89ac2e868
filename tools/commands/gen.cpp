#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "formats/io/hdf5/bundle_writer.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "runtime/core/symmetry.hpp"
#include "tools/cli/json.hpp"
#include "tools/commands/commands.hpp"
#include "tools/gen/data_set.hpp"
#include "tools/gen/generator.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

struct GenOptions {
  std::string field = "real", out = "-";
  bool shuffle = false, data_set = false, force = false;
  const gen::Generator* kind = nullptr;  // generator of the given subcommand
  Parameters arguments;                  // values of its options
};

std::string kinds_with_nodes() {
  std::vector<std::string_view> names;
  for (const gen::Generator& kind : gen::generators())
    if (kind.nodes != nullptr) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Opens the outputs of the data set, if requested and supported by the generator.
Result<std::optional<gen::DataSet>> open_data_set(const GenOptions& options, formats::OutputGroup& outputs) {
  if (!options.data_set) return std::nullopt;
  if (options.kind->nodes == nullptr)
    return fail(Errc::usage, fmt::format("--data-set: '{}' has no node features; use {}", options.kind->name,
                                         kinds_with_nodes()));
  if (options.out == "-")
    return fail(Errc::usage, "--data-set requires an output file, for example -o DIRECTORY/graph.mtx");
  return gen::DataSet::create(options.out, {options.force, &outputs});
}

Status write_data_set(gen::DataSet& set, const GenOptions& options, const gen::GenerateOptions& how) {
  const Result<gen::NodeData> nodes = gen::generate_nodes(*options.kind, options.arguments, how);
  return nodes ? set.write(*nodes) : tl::unexpected(nodes.error());
}

bool to_bundle(const GenOptions& options) { return named_kind(options.out) == FileKind::bundle; }

// Writes the bundle that `convert` would create without formats; for matrices that are too large for text.
Status write_generated(const Session& session, const GenOptions& options, formats::OutputGroup& outputs,
                       const formats::CsrView& a, Progress* progress) {
  auto writer = formats::BundleWriter::create(
      options.out, {.force = options.force,
                    .group = &outputs,
                    .attributes = {{"source_name", "sptile gen " + std::string(options.kind->name)},
                                   {"seed", static_cast<std::int64_t>(session.seed)}},
                    .progress = progress});
  if (!writer) return tl::unexpected(std::move(writer.error()));
  Status s = writer->add_csr(a);
  if (s) s = writer->add_symmetry(options.kind->shape == gen::Shape::symmetric || runtime::is_symmetric(a));
  return s ? writer->commit().map([](auto) {}) : s;
}

Status write_graph(Session& session, const GenOptions& options, formats::OutputGroup& outputs,
                   const formats::CsrView& a) {
  if (to_bundle(options)) return write_generated(session, options, outputs, a, &session.progress);
  return formats::write_matrix_market(
      a, options.out,
      {.force = options.force, .group = &outputs, .comment = {}, .progress = &session.progress});
}

Status run_gen(Session& session, const GenOptions& options) {
  if (const Status s = check_stdout_free(session, options.out); !s) return s;
  if (!to_bundle(options))
    if (const Status s = check_output_name(options.out, FileKind::matrix_market); !s) return s;
  formats::OutputGroup outputs;  // the graph and its data set must be from the same run
  Result<std::optional<gen::DataSet>> set = open_data_set(options, outputs);
  if (!set) return tl::unexpected(std::move(set.error()));
  const Stopwatch total;
  const gen::GenerateOptions how = {session.seed, options.field == "pattern", options.shuffle,
                                    &session.progress};
  const Result<formats::Csr> a = gen::generate(*options.kind, options.arguments, how);
  if (!a) return tl::unexpected(a.error());
  session.detail(fmt::format("generated {} entries in {}", a->nnz(), human_seconds(total.seconds())));
  Status written = write_graph(session, options, outputs, a->view());
  if (written && *set) written = write_data_set(**set, options, how);
  if (written) written = outputs.commit();
  if (!written || options.out == "-") return written;

  Json json = new_result(session);
  json.update({{"kind", options.kind->name}, {"arguments", to_json(options.arguments)}});
  json.update({{"seed", session.seed}, {"field", options.field}, {"shuffle", options.shuffle}});
  json.update({{"output", options.out}, {"rows", a->rows}, {"cols", a->cols}, {"nnz", a->nnz()}});
  if (*set) json["data_set"] = {{"features", (*set)->features()}, {"labels", (*set)->labels()}};
  json["seconds"] = {{"total", total.seconds()}};
  if (session.common.json || !session.common.quiet)
    print_result(session, json,
                 fmt::format("{}: {} x {}, {} entries, {}\n", options.out, a->rows, a->cols, a->nnz(),
                             human_seconds(total.seconds())));
  return {};
}

Option declare_number(Options& app, const gen::ArgumentSpec& spec, ParameterValue& place) {
  const std::string option = "--" + std::string(spec.name), help(spec.help);
  const double initial = spec.default_value.value_or(0);
  if (spec.integer) {
    place = static_cast<std::int64_t>(initial);
    return app.add_option(option, place.integer, help)
        .range(static_cast<std::int64_t>(spec.minimum), static_cast<std::int64_t>(spec.maximum));
  }
  place = initial;
  return app.add_option(option, place.real, help).real_range(spec.minimum, spec.maximum);
}

void declare_argument(Options& app, const gen::ArgumentSpec& spec, ParameterValue& place) {
  Option option = declare_number(app, spec, place);
  if (!spec.default_value) option.required().default_text("");
}

void declare_kind(Options& verb, const gen::Generator& kind, const std::shared_ptr<GenOptions>& options) {
  // Must not be moved: the options store addresses of the elements.
  auto arguments = std::make_shared<Parameters>(kind.arguments.size());
  const std::string footer = fmt::format(
      "Options of 'sptile gen' (-o, --seed, --field, --shuffle, ...) also apply.\nExample:\n"
      "  sptile gen {} {} -o {}.mtx",
      kind.name, kind.example, kind.name);
  Options app = verb.add_kind(kind.name, kind.summary, footer, [&kind, options, arguments] {
    options->kind = &kind;
    options->arguments = *arguments;
  });
  for (std::size_t i = 0; i < kind.arguments.size(); ++i) {
    (*arguments)[i].first = kind.arguments[i].name;
    declare_argument(app, kind.arguments[i], (*arguments)[i].second);
  }
}

Action declare_gen(Options& app) {
  auto options = std::make_shared<GenOptions>();
  app.add_option("-o,--output OUT", options->out, "Matrix to write (.mtx or .h5); - is standard output")
      .details(
          "A Matrix Market file, optionally compressed (.gz, .xz, .zst), or a bundle with csr only (.h5).");
  app.add_option("--field FIELD", options->field, "Values: real numbers in (-1, 1), or none")
      .one_of({"real", "pattern"})
      .details(
          "Real values are uniform, nonzero and exact in f32; those of the graphs of the results pages are "
          "in [0.1, 1).");
  app.add_flag("--shuffle", options->shuffle, "Permute rows and columns at random")
      .details("Graphs use one permutation for both; `random` and `windows` use two independent ones.");
  app.add_flag("--data-set", options->data_set, "Also write features.mtx and nodes.tsv for training")
      .details(
          "The files are written to the directory of the output, with the same compression: `features.mtx` "
          "(nodes x features, pattern) and `nodes.tsv` (label and split of each node). Up to 20 nodes per "
          "class, at most half of them, are training nodes. A third of the others are validation nodes, the "
          "rest test nodes. Kind `community` only.");
  app.add_force(options->force);
  for (const gen::Generator& kind : gen::generators()) declare_kind(app, kind, options);
  return [options](Session& session) { return run_gen(session, *options); };
}
}  // namespace

const Verb kGen = {
    .name = "gen",
    .summary = "Generate a matrix: graphs, grids, stencils, random",
    .details =
        "The same options and seed give the same file on every machine. Graphs are symmetric, including "
        "their values, except the graphs of the results pages: `reddit-like` and the kinds after it. Those "
        "that end in `-like` are replicas: they have the size and a similar structure as a data set, and no "
        "other relation to it. Without options they are the matrices of the tables. Value k, counted along "
        "the rows, is a function of k.",
    .json_keys =
        "`kind`, `arguments`, `seed`, `rows`, `cols`, `nnz`, `output`; with `--data-set` also `data_set` "
        "(`features`, `labels`).",
    .example = "  sptile gen rmat --scale 16 --edges 500000 --seed 7 --shuffle -o rmat16.mtx",
    .declare = declare_gen};

}  // namespace sptile::tools
