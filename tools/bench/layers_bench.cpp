// Times training steps of layers of graph networks on CUDA device 0, and what fusing them gains: CSV rows.
//   layers_bench BUNDLE... [--csv FILE] [--only layers|update|attention] [-n 32,64,128] [--precision
//   tf32|fp32]
//                [--format LIST] [--flush-l2]
// `layers`: forward and backward of one layer of GCN, GIN, AGNN and GAT through the public interface of
// sptile
// (`ours`), beside cuSPARSE, cuBLAS and plain kernels for what these lack (`other`), n features in and out
// (of all heads). `update`: spmm_update beside the fastest SpMM of sptile and cuBLAS. `attention`: attention
// beside SDDMM, softmax and SpMM of sptile in three launches, n features of each head.
// Both sides are captured in CUDA graphs. Launches follow each other and find in the L2 cache what the last
// one left, unless --flush-l2 empties it before each. Results are compared with a reference in double before
// they are timed: `error` and `other_error` are the largest ||x - reference|| / ||reference|| of all results.
// Ratios are other over ours. Bytes are those of operands, results, what stands between, and workspaces,
// counted; `operand_ratio` is what the fused way needs over operands, results and row statistics. Rows that
// the file has are not measured again. What cannot run here is said on stderr.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "tools/bench/layers/fusion.hpp"
#include "tools/bench/layers/sides.hpp"
#include "tools/measure/csv_log.hpp"

namespace {

using namespace sptile;
using namespace sptile::tools::layers;
using tools::CsvLog;
using tools::expect;
using tools::Json;

constexpr std::size_t kFlushBytes = 256 << 20;

constexpr tools::CsvColumn kColumns[] = {{"matrix", true, true},
                                         {"section", true, true},
                                         {"name", true, true},
                                         {"n", false, true},
                                         {"heads", false, true},
                                         {"precision", true, true},
                                         {"flush_l2", false, true},
                                         {"nodes", false, false},
                                         {"entries", false, false},
                                         {"other", true, false},
                                         {"ours_us", false, false},
                                         {"other_us", false, false},
                                         {"ratio", false, false},
                                         {"forward_us", false, false},
                                         {"other_forward_us", false, false},
                                         {"forward_ratio", false, false},
                                         {"error", false, false},
                                         {"other_error", false, false},
                                         {"bytes", false, false},
                                         {"other_bytes", false, false},
                                         {"bytes_ratio", false, false},
                                         {"operand_ratio", false, false}};

struct Setting {
  std::vector<std::string> files;
  std::string csv, only, precision = "tf32", formats = "csr,bittcf,bmat,rs_tile,tall,libra_spmm,hc_window";
  std::vector<std::int64_t> n = {32, 64, 128};
  bool flush = false;

  [[nodiscard]] std::size_t flush_bytes() const { return flush ? kFlushBytes : 0; }
  [[nodiscard]] bool wants(const std::string& section) const { return only.empty() || only == section; }
  /// Errors that are none: sums in another order, and rounded factors.
  [[nodiscard]] double tolerated() const { return precision == "tf32" ? 1e-2 : 1e-4; }
};

/// A graph with the weights of a layer, on both sides.
struct Problem {
  HostCsr host;
  DeviceGraph device;
  Matrix matrix;

  explicit Problem(HostCsr a)
      : host(std::move(a)),
        device(host),
        matrix(CsrMatrix{host.nodes, host.nodes, host.row_ptr, host.columns, Values(host.values)}) {}
};

class Bench {
 public:
  Bench(const Setting& setting, CsvLog log) : setting_(setting), log_(std::move(log)) {}

  void measure(const std::string& path) {
    for (const Weights weights : {Weights::normalized, Weights::sum_with_self}) {
      auto host = read_graph(path, weights);
      if (!host && host.error().code == Errc::unsupported) {
        std::fprintf(stderr, "%s\n", host.error().message.c_str());
        return;
      }
      Problem problem(expect(std::move(host)));
      for (const std::int64_t n : setting_.n) measure(tools::file_name(path), problem, weights, n);
    }
  }

  [[nodiscard]] bool good() const { return good_; }

 private:
  void measure(const std::string& name, Problem& problem, Weights weights, std::int64_t n) {
    if (setting_.wants("layers"))
      for (const Layer& layer : layers())
        if (layer.weights == weights)
          for (const int heads : layer.heads)
            attempt(row(name, problem, "layers", layer.name, n, heads), [&](Json& to) {
              measure_layer(to, problem, layer, {n, n, heads});
            });
    if (setting_.wants("update") && weights == Weights::normalized)
      attempt(row(name, problem, "update", "spmm_update", n, 1), [&](Json& to) {
        measure_fusion(to, "spmm and cublas", [&](Arrays<float>& arrays, Arrays<double>& exact) {
          return fused_update(request(problem), problem.device, {n, n, 1}, arrays, exact);
        });
      });
    if (setting_.wants("attention") && weights == Weights::sum_with_self)
      for (const auto& [score, label] :
           {std::pair{Score::dot, "dot"}, {Score::cosine, "cosine"}, {Score::additive, "additive"}})
        for (const int heads : {1, 4, 8})
          attempt(row(name, problem, "attention", label, n, heads), [&, of = score](Json& to) {
            measure_fusion(to, "three launches", [&](Arrays<float>& arrays, Arrays<double>& exact) {
              return fused_attention(request(problem), of, problem.device, {n, n, heads}, arrays, exact);
            });
          });
  }

  [[nodiscard]] Request request(Problem& problem) const {
    return {problem.matrix, setting_.formats,
            setting_.precision == "tf32" ? Precision::tf32 : Precision::fp32};
  }

  /// A row with what tells it apart; the other columns are empty.
  [[nodiscard]] Json row(const std::string& matrix, const Problem& problem, const char* section,
                         const std::string& name, std::int64_t n, int heads) const {
    Json row;
    for (const tools::CsvColumn& column : kColumns) row[std::string(column.key)] = nullptr;
    row["matrix"] = matrix;
    row["section"] = section;
    row["name"] = name;
    row["n"] = n;
    row["heads"] = heads;
    row["precision"] = setting_.precision;
    row["flush_l2"] = setting_.flush ? 1 : 0;
    row["nodes"] = problem.device.nodes();
    row["entries"] = problem.device.count();
    return row;
  }

  /// Measures what is not there yet. What this build of sptile, or the device, does not have is said.
  template <class F>
  void attempt(Json row, const F& fill_in) {
    if (log_.find(row) != nullptr) return;
    const std::string label = row["matrix"].get<std::string>() + " " + row["section"].get<std::string>() +
                              " " + row["name"].get<std::string>() +
                              " n = " + std::to_string(row["n"].get<int>()) +
                              " heads = " + std::to_string(row["heads"].get<int>());
    try {
      fill_in(row);
    } catch (const Exception& error) {
      std::fprintf(stderr, "%s: %s\n", label.c_str(), error.what());
      return;
    }
    const double error = row["error"], other = row["other_error"];
    if (!(error <= std::max(setting_.tolerated(), 10 * other))) {
      std::fprintf(stderr, "%s: the error is %.3g, that of the others %.3g\n", label.c_str(), error, other);
      good_ = false;
      return;
    }
    std::printf("%s: %.1f us, %.1f us by %s: ratio %.2f\n", label.c_str(), row["ours_us"].get<double>(),
                row["other_us"].get<double>(), row["other"].get<std::string>().c_str(),
                row["ratio"].get<double>());
    std::fflush(stdout);
    expect(log_.append(row));
  }

  void measure_layer(Json& row, Problem& problem, const Layer& layer, const Shape& shape) const {
    Arrays<float> arrays, other_arrays;
    const Side ours = layer.ours(request(problem), problem.device, shape, arrays);
    const Side other = layer.vendor(problem.device, shape, other_arrays);
    {
      Arrays<double> exact;
      const Side reference = layer.reference(problem.device, shape, exact);
      row["error"] = error_of_side(layer, ours, arrays, reference, exact);
      row["other_error"] = error_of_side(layer, other, other_arrays, reference, exact);
    }
    row["other"] = "cusparse and cublas";
    set_times(row, "ours_us", "other_us", "ratio", ours.both(), other.both());
    set_times(row, "forward_us", "other_forward_us", "forward_ratio", ours.forward, other.forward);
    row["bytes"] = arrays.bytes() + ours.workspace_bytes;
    row["other_bytes"] = other_arrays.bytes();
    row["bytes_ratio"] = row["other_bytes"].get<double>() / row["bytes"].get<double>();
  }

  /// Runs a side and the reference, and compares all results.
  static double error_of_side(const Layer& layer, const Side& side, const Arrays<float>& arrays,
                              const Side& reference, Arrays<double>& exact) {
    run(side.both());
    run(reference.forward);
    double error = 0;
    const auto compare = [&](const std::string& name) {
      error = std::max(error, error_of(arrays, exact, name, name));
    };
    if (layer.signs != nullptr) {
      compare(layer.signs);
      widen(arrays.get(layer.signs), exact.get(layer.signs), arrays.count(layer.signs), work_stream());
    }
    run(reference.backward);
    for (const std::string& name : layer.results) compare(name);
    return error;
  }

  /// `make` gives the fusion on these arrays.
  template <class Make>
  void measure_fusion(Json& row, const char* other, const Make& make) const {
    Arrays<float> arrays;
    const Fusion fusion = [&] {
      Arrays<double> exact;
      Fusion made = make(arrays, exact);
      for (const Step* step : {&made.fused, &made.apart, &made.reference}) run(*step);
      row["error"] = error_of(arrays, exact, kFusedResult, kApartResult);
      row["other_error"] = error_of(arrays, exact, kApartResult, kApartResult);
      made.reference = {};
      return made;
    }();
    row["other"] = std::string(other) + ", " + fusion.apart_format;
    set_times(row, "ours_us", "other_us", "ratio", fusion.fused, fusion.apart);
    row["bytes"] = fusion.fused_bytes;
    row["other_bytes"] = fusion.apart_bytes;
    row["bytes_ratio"] = static_cast<double>(fusion.apart_bytes) / static_cast<double>(fusion.fused_bytes);
    row["operand_ratio"] =
        static_cast<double>(fusion.fused_bytes) / static_cast<double>(fusion.operand_bytes);
  }

  void set_times(Json& row, const char* ours_key, const char* other_key, const char* ratio_key,
                 const Step& ours, const Step& other) const {
    const double us = graph_us(ours, setting_.flush_bytes()),
                 other_us = graph_us(other, setting_.flush_bytes());
    row[ours_key] = us;
    row[other_key] = other_us;
    row[ratio_key] = other_us / us;
  }

  Setting setting_;
  CsvLog log_;
  bool good_ = true;
};

Setting parse(int argc, char** argv) {
  Setting setting;
  CLI::App app("Time training steps of graph network layers on CUDA device 0.");
  app.add_option("BUNDLE", setting.files, "square matrices")->required();
  app.add_option("--csv", setting.csv, "CSV file to append rows to");
  app.add_option("--only", setting.only, "run only one part")
      ->check(CLI::IsMember({"layers", "update", "attention"}));
  app.add_option("-n", setting.n, "features")->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--precision", setting.precision)->check(CLI::IsMember({"tf32", "fp32"}));
  app.add_option("--format", setting.formats, "formats to choose from, separated by commas");
  app.add_flag("--flush-l2", setting.flush, "flush the L2 cache before each launch");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : static_cast<int>(Errc::usage));
  }
  return setting;
}

}  // namespace

int main(int argc, char** argv) {
  const Setting setting = parse(argc, argv);
  expect(load_vendor(setting.precision == "tf32"));
  Bench bench(setting, expect(CsvLog::open(setting.csv, kColumns)));
  for (const std::string& path : setting.files) bench.measure(path);
  return bench.good() ? 0 : static_cast<int>(Errc::check_failed);
}
