// Times the conversion from CSR to every format on CUDA device 0, compared with all threads of the CPU: CSV
// on stdout, one row per matrix and format.
//
//   device_convert_bench [--keep] ROUNDS VALUES MATRIX...
//
// VALUES is f32, f16, f64 or pattern. Matrices are bundles, raw CSR files (see formats/io/binary/raw_csr.hpp)
// or Matrix Market files. `first_seconds` is the first conversion, `device_seconds` the median of the
// following ones. Both include checks, allocations, the conversion and freeing the previous result, but not
// the upload of the CSR matrix. `same` states whether both results have the same bytes. --keep makes the
// device's pool keep freed memory, as applications can.
#include <cuda_runtime_api.h>
#include <tbb/info.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/dtype_names.hpp"
#include "formats/layout/registry.hpp"
#include "tools/bench/bench_device.hpp"
#include "tools/bench/bench_input.hpp"
#include "tools/pipeline/device_conversion.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace {

using namespace sptile;

struct Times {
  double first = 0, median = 0;  ///< seconds: of the first call, and of the following ones
};

Result<Times> time_calls(int rounds, const std::function<Status()>& f) {
  std::vector<double> seconds;
  for (int i = 0; i <= rounds; ++i) {
    const tools::Stopwatch watch;
    if (Status s = f(); !s) return tl::unexpected(s.error());
    seconds.push_back(watch.seconds());
  }
  const double first = seconds.front();
  seconds.erase(seconds.begin());
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return Times{first, seconds[static_cast<std::size_t>(rounds / 2)]};
}

bool same(const formats::FormatData& x, const formats::FormatData& y) {
  for (std::size_t i = 0; i < x.arrays.size(); ++i) {
    const ArrayView a = x.arrays[i].view(), b = y.arrays[i].view();
    if (a.dtype != b.dtype || a.size != b.size ||
        (a.size > 0 && std::memcmp(a.data, b.data, static_cast<std::size_t>(a.bytes())) != 0))
      return false;
  }
  return x.parameters == y.parameters;
}

Status measure(const std::string& path, const formats::CsrView& a, const runtime::cuda::UploadedCsr& matrix,
               const formats::Converter& converter, int rounds) {
  const formats::FormatLayout& layout = *formats::find_layout(converter.format);
  runtime::cuda::DeviceFormat on_device;
  const auto device = time_calls(rounds, [&]() -> Status {
    on_device = {};
    auto made = runtime::cuda::convert_on_device(layout, matrix.csr, {}, nullptr);
    if (!made) return tl::unexpected(made.error());
    on_device = std::move(*made);
    return {};
  });
  if (!device) return tl::unexpected(device.error());
  const auto fetched = tools::fetch_format(on_device, 0);
  if (!fetched) return tl::unexpected(fetched.error());
  on_device = {};
  formats::FormatData data;
  const auto cpu = time_calls(rounds, [&]() -> Status {
    auto made = converter.from_csr(a, nullptr);
    if (!made) return tl::unexpected(made.error());
    data = std::move(*made);
    return {};
  });
  if (!cpu) return tl::unexpected(cpu.error());
  std::printf("%s,%s,%lld,%.6f,%.6f,%.4g,%.6f,%d,%.2f,%s\n", path.substr(path.rfind('/') + 1).c_str(),
              std::string(converter.format).c_str(), static_cast<long long>(a.nnz()), device->first,
              device->median, static_cast<double>(a.nnz()) / device->median, cpu->median,
              tbb::info::default_concurrency(), cpu->median / device->median,
              same(data, *fetched) ? "yes" : "no");
  std::fflush(stdout);
  return {};
}

Status run_matrix(const std::string& path, DType values, int rounds) {
  const auto csr = tools::read_bench_matrix(path, values);
  if (!csr) return tl::unexpected(csr.error());
  const auto matrix = runtime::cuda::upload_csr(csr->view(), 0);
  if (!matrix) return tl::unexpected(matrix.error());
  for (const formats::Converter& converter : formats::converters())
    if (Status s = measure(path, csr->view(), *matrix, converter, rounds); !s) return s;
  return {};
}

int fail_with(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return static_cast<int>(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  const bool keep = argc > 1 && std::string(argv[1]) == "--keep";
  const std::vector<std::string> words(argv + (keep ? 2 : 1), argv + argc);
  const int rounds = words.size() > 2 ? std::atoi(words[0].c_str()) : 0;
  const std::string type = words.size() > 2 ? words[1] : "";
  const auto values = parse_value_dtype(type);
  if (rounds < 1 || (!values && type != "pattern")) {
    std::fprintf(stderr, "usage: device_convert_bench [--keep] ROUNDS f32|f16|bf16|f64|pattern MATRIX...\n");
    return static_cast<int>(Errc::usage);
  }
  if (keep)
    if (const Status s = tools::keep_pool_memory(); !s) return fail_with(s.error());
  std::printf(
      "matrix,format,entries,first_seconds,device_seconds,entries_per_second,cpu_seconds,cpu_threads,ratio,"
      "same\n");
  for (std::size_t i = 2; i < words.size(); ++i)
    if (const Status s = run_matrix(words[i], values.value_or(DType::none), rounds); !s)
      return fail_with(s.error());
  return 0;
}
