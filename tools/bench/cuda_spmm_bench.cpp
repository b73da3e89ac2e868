// Times SpMM on a CUDA device beside cuSPARSE, in one process: one CSV row per kernel, N and precision on
// stdout.
//   cuda_spmm_bench [--formats csr,tall:64] [--n 32,128] [--precision fp32,tf32]
//   [--reorder METHOD[:PRESET]] [--window-rows H] [--no-cusparse] FILE...
// A is random in (0.1, 1), B in (-1, 1), with the given structure; every result is compared with sums in
// double first. floor_us is the time to move CSR, B and C once at the speed of a copy on the device. plan_us
// is what planning took, upload included, for a matrix that is trusted; pinned_us what copying the same bytes
// from pinned memory takes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/convert/tall.hpp"
#include "formats/convert/tall_window.hpp"
#include "reorder/registry.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels.hpp"
#include "tools/bench/cuda/cusparse.hpp"
#include "tools/bench/cuda/matrix_file.hpp"
#include "tools/bench/cuda/timing.hpp"
#include "tools/stopwatch.hpp"

namespace {

using namespace sptile;
using namespace sptile::bench;
using runtime::Precision;

struct PrecisionRow {
  std::string name;
  Precision precision;
  DType dtype;  ///< of A, B and C
};

const PrecisionRow kPrecisions[] = {{"fp32", Precision::fp32, DType::f32},
                                    {"tf32", Precision::tf32, DType::f32},
                                    {"fp16", Precision::fp16, DType::f16},
                                    {"bf16", Precision::bf16, DType::bf16},
                                    {"fp64", Precision::fp64, DType::f64}};

struct Settings {
  std::vector<std::string> formats = {"csr"}, precisions = {"fp32"}, files;
  std::vector<std::int64_t> columns = {128};
  std::string reorder = "identity";
  int window_rows = 8;  ///< that the reordering aims at
  bool cusparse = true;
};

[[noreturn]] void stop(const std::string& message, int code) {
  std::fprintf(stderr, "cuda_spmm_bench: %s\n", message.c_str());
  std::exit(code);
}

template <class T>
T must(Result<T> result) {
  if (!result) stop(result.error().text(), static_cast<int>(result.error().code));
  return std::move(*result);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) stop(word + " needs a value", 2);
      return argv[++i];
    };
    if (word == "--formats")
      settings.formats = split(value());
    else if (word == "--precision")
      settings.precisions = split(value());
    else if (word == "--reorder")
      settings.reorder = value();
    else if (word == "--window-rows")
      settings.window_rows = std::atoi(value().c_str());
    else if (word == "--no-cusparse")
      settings.cusparse = false;
    else if (word == "--n") {
      settings.columns.clear();
      for (const std::string& n : split(value())) settings.columns.push_back(std::atoll(n.c_str()));
    } else if (word.starts_with("--"))
      stop("unknown option " + word, 2);
    else
      settings.files.push_back(word);
  }
  return settings;
}

/// One matrix in one element type, on both sides, with the operands for the widest N.
class Bench {
 public:
  Bench(const Settings& settings, std::string name, formats::Csr a, double bandwidth)
      : settings_(settings),
        name_(std::move(name)),
        a_(std::move(a)),
        bandwidth_(bandwidth),
        row_ptr_(static_cast<std::size_t>(a_.rows + 1) * 4),
        columns_(a_.col_idx.data(), static_cast<std::size_t>(a_.nnz()) * 4),
        values_(a_.values.data(), static_cast<std::size_t>(a_.values.view().bytes())) {
    std::vector<std::int32_t> narrow(a_.row_ptr.begin(), a_.row_ptr.end());
    require(cudaMemcpy(row_ptr_.get(), narrow.data(), narrow.size() * 4, cudaMemcpyHostToDevice),
            "uploading");
  }

  void run(const PrecisionRow& precision) {
    convert();
    for (const std::int64_t n : settings_.columns) run_columns(precision, n);
  }

 private:
  struct Converted {
    std::string format;
    formats::FormatData data;
  };

  /// "tall:64" fixes the height of the windows.
  static formats::FormatData convert_to(const std::string& format, const formats::CsrView& a) {
    for (int level = 0; level < formats::kTallLevels; ++level)
      if (format == "tall:" + std::to_string(formats::tall_height(level)))
        return must(formats::tall_from_csr_at(a, level, {}, nullptr));
    const formats::Converter* converter = formats::find_converter(format);
    if (converter == nullptr) stop("no format " + format, 2);
    return must(converter->from_csr(a, nullptr));
  }

  void convert() {
    const std::size_t colon = std::min(settings_.reorder.find(':'), settings_.reorder.size());
    const reorder::Reorderer* method = reorder::find_reorderer(settings_.reorder.substr(0, colon));
    if (method == nullptr) stop("no reordering " + settings_.reorder, 2);
    reorder::ReorderOptions options;
    options.window_rows = settings_.window_rows;
    if (colon < settings_.reorder.size()) {
      const reorder::Preset* preset = reorder::find_preset(*method, settings_.reorder.substr(colon + 1));
      if (preset == nullptr) stop("no preset " + settings_.reorder, 2);
      options.settings = preset->settings;
    }
    if (settings_.reorder != "identity") order_ = must(method->run(a_.view(), options));
    const formats::Csr permuted =
        order_.empty() ? formats::copy(a_.view()) : formats::permute_rows(a_.view(), order_);
    for (const std::string& format : settings_.formats) {
      converted_.push_back({format, convert_to(format, permuted.view())});
    }
  }

  void run_columns(const PrecisionRow& precision, std::int64_t n) {
    const DType dtype = precision.dtype;
    const std::size_t element = size_of(dtype), b_size = static_cast<std::size_t>(a_.cols * n),
                      c_size = static_cast<std::size_t>(a_.rows * n);
    const DeviceMemory b(b_size * element), c(c_size * element), exact(c_size * sizeof(double));
    fill_uniform(b.get(), dtype, static_cast<std::int64_t>(b_size), -1, 1, 2);
    const DeviceCsr csr{a_.rows,
                        a_.cols,
                        a_.nnz(),
                        static_cast<const std::int32_t*>(row_ptr_.get()),
                        static_cast<const std::int32_t*>(columns_.get()),
                        values_.get(),
                        dtype};
    reference_spmm(csr, b.get(), static_cast<double*>(exact.get()), n);
    const double bytes =
        static_cast<double>((b_size + c_size) * element + static_cast<std::size_t>(a_.nnz()) * (4 + element) +
                            static_cast<std::size_t>(a_.rows + 1) * 4);
    floor_us_ = 1e6 * bytes / bandwidth_;
    const auto distance = [&] {
      return frobenius_distance(c.get(), dtype, static_cast<const double*>(exact.get()),
                                static_cast<std::int64_t>(c_size));
    };
    const auto spoil = [&] { require(cudaMemset(c.get(), 0xFF, c_size * element), "spoiling C"); };
    if (settings_.cusparse && precision.precision != Precision::tf32)
      time_cusparse(csr, b, c, n, precision, distance, spoil);
    for (const Converted& converted : converted_)
      for (const runtime::Kernel& kernel : runtime::kernels())
        if (kernel.device == runtime::Device::cuda && kernel.format == converted.data.layout->name)
          time_kernel(converted, kernel, precision, n, b, c, distance, spoil);
  }

  template <class Distance, class Spoil>
  void time_cusparse(const DeviceCsr& csr, const DeviceMemory& b, const DeviceMemory& c, std::int64_t n,
                     const PrecisionRow& precision, Distance distance, Spoil spoil) {
    for (const CusparseRun& run : cusparse_runs(csr, b.get(), c.get(), n)) {
      spoil();
      run.launch();
      const double error = distance();
      print("csr", run.name, n, precision.name, time_launches(run.launch), error, 0, 0);
    }
  }

  template <class Distance, class Spoil>
  void time_kernel(const Converted& converted, const runtime::Kernel& kernel, const PrecisionRow& precision,
                   std::int64_t n, const DeviceMemory& b, const DeviceMemory& c, Distance distance,
                   Spoil spoil) {
    runtime::SpmmOptions options;
    options.n = n;
    options.dense = precision.dtype;
    options.device = runtime::Device::cuda;
    options.kernel = kernel.name;
    options.trusted = true;
    if (precision.dtype == DType::f32) options.precision = precision.precision;
    const runtime::SpmmMatrix matrix{converted.data.view(), order_, {}, nullptr};
    auto plan = runtime::plan_spmm(matrix, options);
    if (!plan && plan.error().code != Errc::device) return;  // no such instance
    if (!plan) stop(plan.error().text(), 6);
    if (runtime::precision_of(**plan) != precision.precision) return;
    plan->reset();
    const tools::Stopwatch watch;
    plan = runtime::plan_spmm(matrix, options);
    const double plan_us = 1e6 * watch.seconds();
    const auto launch = [&] {
      if (const Status s = runtime::run(**plan, {b.get(), n, c.get(), n}); !s) stop(s.error().text(), 6);
    };
    spoil();
    launch();
    const double error = distance();
    print(converted.format, std::string(kernel.name), n, precision.name, time_launches(launch), error,
          plan_us, pinned_copy_us(converted));
  }

  /// Time to bring the bytes of a format to the device out of pinned memory.
  double pinned_copy_us(const Converted& converted) {
    if (pinned_rate_ == 0) {
      const std::size_t bytes = std::size_t{256} << 20;
      void* host = nullptr;
      require(cudaMallocHost(&host, bytes), "pinning");
      std::memset(host, 1, bytes);
      const DeviceMemory device(bytes);
      const double us = time_launches(
          [&] { require(cudaMemcpyAsync(device.get(), host, bytes, cudaMemcpyHostToDevice), "copying"); });
      require(cudaFreeHost(host), "unpinning");
      pinned_rate_ = static_cast<double>(bytes) / us;
    }
    const formats::FormatView view = converted.data.view();
    return static_cast<double>(formats::index_bytes(view) + formats::value_bytes(view)) / pinned_rate_;
  }

  void print(const std::string& format, const std::string& kernel, std::int64_t n,
             const std::string& precision, double us, double error, double plan_us, double pinned_us) const {
    const double gflops = 2e-3 * static_cast<double>(a_.nnz()) * static_cast<double>(n) / us;
    std::printf("%s,%lld,%lld,%s,%s,%lld,%s,%.3f,%.1f,%.3e,%.1f,%s,%.0f,%.0f\n", name_.c_str(),
                static_cast<long long>(a_.rows), static_cast<long long>(a_.nnz()), format.c_str(),
                kernel.c_str(), static_cast<long long>(n), precision.c_str(), us, gflops, error, floor_us_,
                settings_.reorder.c_str(), plan_us, pinned_us);
    std::fflush(stdout);
  }

  const Settings& settings_;
  std::string name_;
  formats::Csr a_;
  double bandwidth_, floor_us_ = 0, pinned_rate_ = 0;
  std::vector<std::int32_t> order_;
  std::vector<Converted> converted_;
  DeviceMemory row_ptr_, columns_, values_;
};

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  const auto device = must(runtime::cuda::find_device(0));
  const double bandwidth = copy_bandwidth();
  std::fprintf(stderr, "%s, compute capability %d, copies at %.1f GB/s\n", device.name.c_str(),
               device.capability, 1e-9 * bandwidth);
  std::printf(
      "matrix,rows,nnz,format,kernel,N,precision,us,gflops,rel_err,floor_us,reorder,plan_us,pinned_us\n");
  for (const std::string& file : settings.files)
    for (const std::string& name : settings.precisions) {
      const auto* precision = std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                                           [&](const PrecisionRow& row) { return row.name == name; });
      if (precision == std::end(kPrecisions)) stop("no precision " + name, 2);
      Bench(settings, name_of_file(file), must(read_matrix(file, precision->dtype)), bandwidth)
          .run(*precision);
    }
}
