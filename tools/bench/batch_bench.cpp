// Times many small products: one run of a batch, compared with a run per matrix.
//
//   batch_bench [molecules] [layers] [mini-batches] [--device cpu|cuda] [-n 64] [--count 1000] [--atoms 40]
//               [--format csr,bittcf,bmat,tall] [--precision fp32|tf32] [--threads T] [--seed S] [--csv FILE]
//
// `molecules`: --count matrices with random bonds, block-diagonal. `layers`: pruned projections of one
// network that read the same input, stacked. `mini-batches`: sampled neighborhoods, block-diagonal. `batch`
// is one run of the plan of the batch; `graph` are runs of the plans of all matrices, captured in one CUDA
// graph; `each` are the same runs, enqueued one by one from the host: median microseconds of all products, of
// consecutive repetitions. Ratios are over `batch`. `make` is the time from arrays on the device to the plan
// of the batch, `make_each` to those of all matrices. All variants use the same format. Matrices and operands
// are random. Every result is compared with sums in double before timing: `error` is the larger ||C - A B|| /
// ||A B||. Rows that FILE contains are not measured again. On the CPU the format is csr.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/batch/place.hpp"
#include "tools/bench/batch/problem.hpp"
#include "tools/measure/csv_log.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace {

using namespace sptile;
using namespace sptile::tools::batch;
using tools::CsvLog;
using tools::Json;

constexpr tools::CsvColumn kColumns[] = {{"case", true, true},       {"device", true, true},
                                         {"format", true, true},     {"precision", true, true},
                                         {"n", false, true},         {"matrices", false, true},
                                         {"rows", false, true},      {"threads", false, true},
                                         {"seed", false, true},      {"entries", false, false},
                                         {"kernel", true, false},    {"batch_us", false, false},
                                         {"graph_us", false, false}, {"graph_ratio", false, false},
                                         {"each_us", false, false},  {"each_ratio", false, false},
                                         {"make_us", false, false},  {"make_each_us", false, false},
                                         {"error", false, false}};

struct Setting {
  std::vector<std::string> cases = {"number of molecules", "layers", "mini-batches"};
  std::vector<std::string> formats;
  std::string device = "cuda", precision = "fp32", csv;
  std::int64_t n = 64, count = 1000, atoms = 40;
  int threads = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] PlanOptions plan(const std::string& format, Device where) const {
    return {.n = n,
            .format = format,
            .threads = threads,
            .device = where,
            .precision = precision == "tf32" ? Precision::tf32 : Precision::fp32};
  }
  /// Error bound for different summation order and rounded factors.
  [[nodiscard]] double tolerated() const { return precision == "tf32" ? 1e-2 : 1e-5; }
};

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::exit(static_cast<int>(error.code));
}

/// A problem in the memory of a place.
class PlacedProblem {
 public:
  PlacedProblem(const Problem& problem, std::int64_t n, Place& place, Random& random)
      : problem_(problem), place_(place), n_(n), host_b_(random_numbers(problem.cols() * n, random)) {
    for (const Member& part : problem.parts)
      parts.push_back({part.rows,
                       part.cols,
                       {static_cast<const std::int64_t*>(put(part.row_ptr)), part.row_ptr.size()},
                       {static_cast<const std::int32_t*>(put(part.col_idx)), part.col_idx.size()},
                       Values(Type::f32, put(part.values), part.values.size()),
                       place.device()});
    b_ = static_cast<const float*>(put(host_b_));
    c_ = static_cast<float*>(put(nothing()));
  }

  /// Returns a step that computes C with the plan of the batch.
  [[nodiscard]] Step batch(const Plan& plan) const {
    return [this, &plan](void* stream) { run(plan, b_, c_, stream); };
  }
  /// Returns a step that computes C with the plans of all matrices in sequence.
  [[nodiscard]] Step each(const std::vector<Plan>& plans) const {
    return [this, &plans](void* stream) {
      const float* b = b_;
      float* c = c_;
      for (const Plan& plan : plans) {
        run(plan, b, c, stream);
        if (!problem_.stacked) b += plan.cols() * n_;
        c += plan.rows() * n_;
      }
    };
  }

  /// Returns the error of a step's result.
  [[nodiscard]] double error(const Step& step) const {
    std::vector<float> c = nothing();
    place_.write(c_, c.data(), c.size() * sizeof(float));
    place_.run(step);
    place_.read(c.data(), c_, c.size() * sizeof(float));
    return error_of(problem_, n_, host_b_, c);
  }

  std::vector<CsrMatrix> parts;

 private:
  template <class T>
  void* put(const std::vector<T>& list) {
    return place_.put(list.data(), list.size() * sizeof(T));
  }
  /// Returns a C filled with NaN.
  [[nodiscard]] std::vector<float> nothing() const {
    return std::vector<float>(static_cast<std::size_t>(problem_.rows() * n_),
                              std::numeric_limits<float>::quiet_NaN());
  }
  static void run(const Plan& plan, const float* b, float* c, void* stream) {
    plan.run({.dense = {{{b}, {c}}}}, stream);
  }

  const Problem& problem_;
  Place& place_;
  std::int64_t n_;
  std::vector<float> host_b_;
  const float* b_ = nullptr;
  float* c_ = nullptr;
};

template <class F>
double once_us(const F& f) {
  const tools::Stopwatch watch;
  f();
  return 1e6 * watch.seconds();
}

Plan plan_of_batch(const std::vector<CsrMatrix>& parts, bool stacked, const PlanOptions& options) {
  Matrix all = stacked ? Matrix::stacked(parts) : Matrix::block_diagonal(parts);
  return all.plan("spmm", options);
}

std::vector<Plan> plans_of_each(const std::vector<CsrMatrix>& parts, const PlanOptions& options) {
  std::vector<Plan> plans;
  for (const CsrMatrix& part : parts) plans.push_back(Matrix(part).plan("spmm", options));
  return plans;
}

class Bench {
 public:
  Bench(const Setting& setting, Place& place, CsvLog log)
      : setting_(setting), place_(place), log_(std::move(log)) {}

  void print_head() const {
    fmt::print("{:13}{:8}{:>9}{:>9}  {:24}{:>10}{:>10}{:>7}{:>11}{:>7}{:>10}{:>11}{:>9}\n", "case", "format",
               "matrices", "entries", "kernel", "batch_us", "graph_us", "ratio", "each_us", "ratio",
               "make_us", "make_each", "error");
  }

  void measure(const Problem& problem) {
    Random random(setting_.seed);
    const PlacedProblem placed(problem, setting_.n, place_, random);
    for (const std::string& format : setting_.formats) {
      Json row = row_of(problem, format);
      if (const Json* const known = log_.find(row)) {
        print(*known);
        continue;
      }
      try {
        fill(row, placed, problem.stacked, setting_.plan(format, place_.device()));
      } catch (const Exception& e) {
        std::fprintf(stderr, "%s, %s: %s\n", problem.name.c_str(), format.c_str(), e.what());
        good_ = false;
        continue;
      }
      keep(row);
    }
  }

  [[nodiscard]] bool good() const { return good_; }

 private:
  [[nodiscard]] Json row_of(const Problem& problem, const std::string& format) const {
    Json row;
    for (const tools::CsvColumn& column : kColumns) row[std::string(column.key)] = nullptr;
    row["case"] = problem.name;
    row["device"] = setting_.device;
    row["format"] = format;
    row["precision"] = setting_.precision;
    row["n"] = setting_.n;
    row["matrices"] = problem.parts.size();
    row["rows"] = problem.rows();
    row["threads"] = setting_.threads;
    row["seed"] = setting_.seed;
    row["entries"] = problem.entries();
    return row;
  }

  void fill(Json& row, const PlacedProblem& placed, bool stacked, const PlanOptions& options) {
    static_cast<void>(plan_of_batch(placed.parts, stacked, options));  // loads the code
    std::optional<Plan> batch;
    std::vector<Plan> each;
    row["make_us"] = once_us([&] { batch.emplace(plan_of_batch(placed.parts, stacked, options)); });
    row["make_each_us"] = once_us([&] { each = plans_of_each(placed.parts, options); });
    row["kernel"] = batch->kernel();
    const Step one = placed.batch(*batch), many = placed.each(each);
    row["error"] = std::max(placed.error(one), placed.error(many));
    if (!(row["error"].get<double>() <= setting_.tolerated())) return;
    const double us = place_.call_us(one), each_us = place_.call_us(many);
    row["batch_us"] = us;
    row["each_us"] = each_us;
    row["each_ratio"] = each_us / us;
    if (const std::optional<double> graph_us = place_.graph_us(many)) {
      row["graph_us"] = *graph_us;
      row["graph_ratio"] = *graph_us / us;
    }
  }

  void keep(const Json& row) {
    const double error = row["error"];
    if (!(error <= setting_.tolerated())) {
      std::fprintf(stderr, "%s, %s: the error is %.3g\n", row["case"].get<std::string>().c_str(),
                   row["format"].get<std::string>().c_str(), error);
      good_ = false;
      return;
    }
    print(row);
    if (const Status s = log_.append(row); !s) give_up(s.error());
  }

  static void print(const Json& row) {
    const auto number = [&](const char* key, int digits) {
      return row[key].is_null() ? std::string("-") : fmt::format("{:.{}f}", row[key].get<double>(), digits);
    };
    fmt::print("{:13}{:8}{:>9}{:>9}  {:24}{:>10}{:>10}{:>7}{:>11}{:>7}{:>10}{:>11}{:>9.1e}\n",
               row["case"].get<std::string>(), row["format"].get<std::string>(), number("matrices", 0),
               number("entries", 0), row["kernel"].get<std::string>(), number("batch_us", 1),
               number("graph_us", 1), number("graph_ratio", 2), number("each_us", 1), number("each_ratio", 2),
               number("make_us", 0), number("make_each_us", 0), row["error"].get<double>());
    std::fflush(stdout);
  }

  Setting setting_;
  Place& place_;
  CsvLog log_;
  bool good_ = true;
};

Problem problem_named(const std::string& name, const Setting& setting) {
  Random random(setting.seed);
  if (name == "layers") return pruned_layers(random);
  if (name == "mini-batches") return mini_batches(random);
  return molecules(setting.count, setting.atoms, random);
}

Setting parse(int argc, char** argv) {
  Setting setting;
  CLI::App app("Time many small products: one run of a batch, compared with one run per matrix.");
  app.add_option("CASE", setting.cases, "molecules, layers, mini-batches; default: all")
      ->check(CLI::IsMember(setting.cases));
  app.add_option("--device", setting.device, "default: cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("-n", setting.n, "columns of B")->check(CLI::Range(1, 4096));
  app.add_option("--count", setting.count, "number of molecules")->check(CLI::Range(1, 100'000));
  app.add_option("--atoms", setting.atoms, "atoms per molecule")->check(CLI::Range(1, 10'000));
  app.add_option("--format", setting.formats,
                 "formats to measure; default: csr, and on CUDA devices also bittcf, bmat and tall")
      ->delimiter(',');
  app.add_option("--precision", setting.precision, "precision of f32 products")
      ->check(CLI::IsMember({"fp32", "tf32"}));
  app.add_option("--threads", setting.threads, "number of CPU threads; 0 uses all")
      ->check(CLI::Range(0, 4096));
  app.add_option("--seed", setting.seed, "seed of all random numbers");
  app.add_option("--csv", setting.csv, "CSV file to append rows to");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : static_cast<int>(Errc::usage));
  }
  if (setting.formats.empty())
    setting.formats = setting.device == "cpu" ? std::vector<std::string>{"csr"}
                                              : std::vector<std::string>{"csr", "bittcf", "bmat", "tall"};
  return setting;
}

}  // namespace

int main(int argc, char** argv) {
  const Setting setting = parse(argc, argv);
  auto place = setting.device == "cpu" ? Result<std::unique_ptr<Place>>(host_place()) : cuda_place();
  if (!place) give_up(place.error());
  auto log = CsvLog::open(setting.csv, kColumns);
  if (!log) give_up(log.error());
  Bench bench(setting, **place, std::move(*log));
  bench.print_head();
  for (const std::string& name : setting.cases) bench.measure(problem_named(name, setting));
  return bench.good() ? 0 : static_cast<int>(Errc::check_failed);
}
