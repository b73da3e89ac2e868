// Checks and times products on the CUDA devices of a machine, with a process per part.
//
//   product_nccl PARTS WHOLE [wire=nccl|nccl:CTAS|peers|auto,...] [n=128] [runs=50] [format=NAME,...]
//                [measured] [steps] [dies]
//
// WHOLE is a bundle of the matrix, of float or a pattern. Rows are exchanged by NCCL (default), by NCCL with
// at most CTAS thread blocks, through the memory of peers, or by the fastest of these. Prints one line of
// JSON for each of these, with times of the slowest rank in microseconds. With `measured`, formats and
// kernels are chosen by measurement. `steps` prints the seconds of each step of the program to stderr. With
// `dies`, rank 1 exits before a run, and the other ranks must report that in time. Exit codes: 0: all results
// are correct; 77: there are fewer devices than parts, or they cannot map each other; others: stderr has the
// reason. A rank that makes no progress for 20 s (SPTILE_TEST_WATCHDOG) prints its step and stack.
//
//   seconds       duration of the program until the last time is measured; sampled: rows compared one by one
//   wire          exchange of the product
//   step          a product: gather, exchange and boundary product during the local product
//   captured      the same as a CUDA graph
//   host          time of the host for a product that it does not wait for, the least of groups of 20;
//                 `captured_host`: for a captured one
//   exchange      gather and exchange alone; `local` and `halo`: the two products of the step alone
//   hidden        how much of the exchange is not seen: 1 - (step - local - halo) / exchange
//   one_device    the whole matrix on one device, all others idle
//   all_gather    all rows gathered everywhere by NCCL, then own rows by cuSPARSE
//   all_to_all    the exchange by NCCL, then own rows, local and halo in one, by cuSPARSE
#define SPTILE_DIST_NCCL
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sptile_dist.hpp"
#include "tests/dist/cusparse_product.hpp"
#include "tests/dist/device_product.hpp"
#include "tests/dist/processes.hpp"
#include "tests/dist/reference.hpp"
#include "tests/dist/watchdog.hpp"

namespace {

namespace dist = sptile::dist;
using dist::detail::check;
using sptile::test::CsrRows;
using sptile::test::CusparseProduct;
using sptile::test::ProcessGroup;
using sptile::test::Watchdog;
using Nccl = dist::NcclExchange<ProcessGroup>;
using Array = sptile::test::DeviceArray<float>;
using Reference = sptile::test::Reference<float>;
using Buffer = dist::CudaMemory::Buffer<float>;

const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();  // of the program

struct Arguments {
  std::string parts, whole, format;
  std::vector<std::string> wires = {"nccl"};
  std::int64_t n = 128, rank = -1;
  int runs = 50, memory = -1;
  bool measured = false, steps = false, dies = false;

  [[nodiscard]] std::string path(std::int64_t part) const { return dist::detail::path_of_part(parts, part); }
  /// Tile formats multiply in tf32.
  [[nodiscard]] double tolerance() const {
    return !measured && (format.empty() || format == "csr") ? sptile::test::tolerance_of<float> : 5e-3;
  }
  [[nodiscard]] std::int64_t ranks() const { return sptile::Part(path(0)).parts(); }
};

/// Returns CTAS of nccl:CTAS, 0 if it is not given.
int max_ctas(const std::string& wire) {
  if (wire == "nccl") return 0;
  if (!wire.starts_with("nccl:")) throw std::invalid_argument("wire=" + wire + ": unknown");
  return std::stoi(wire.substr(5));
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

Arguments parse(int argc, char** argv) {
  Arguments a{argv[1], argv[2], {}};
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i], value = word.substr(word.find('=') + 1);
    if (word.starts_with("n=")) a.n = std::stoll(value);
    if (word.starts_with("runs=")) a.runs = std::stoi(value);
    if (word.starts_with("wire=")) a.wires = words_of(value);
    if (word.starts_with("format=")) a.format = value;
    if (word.starts_with("rank=")) a.rank = std::stoll(value);
    if (word.starts_with("memory=")) a.memory = std::stoi(value);
    a.measured = a.measured || word == "measured";
    a.steps = a.steps || word == "steps";
    a.dies = a.dies || word == "dies";
  }
  return a;
}

/// What is measured is the same in all ranks, and of all.
class Stopwatch {
 public:
  Stopwatch(ProcessGroup& group, int runs) : group_(group), runs_(runs) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  /// Microseconds of work that is put on the stream, in the slowest rank.
  template <class Work>
  double time(const Work& work) {
    for (int i = 0; i < 5; ++i) work();
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    group_.meet();
    check(cudaEventRecord(begin_, stream()), "cudaEventRecord");
    for (int i = 0; i < runs_; ++i) work();
    check(cudaEventRecord(end_, stream()), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return slowest(static_cast<double>(milliseconds)) * 1000 / runs_;
  }

  /// Microseconds that the host needs to put work on the stream, in the slowest rank: the least of some
  /// groups.
  template <class Work, class Wait>
  double time_host(const Work& work, const Wait& wait) {
    constexpr int groups = 10, size = 20;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < groups; ++i) {
      wait();
      group_.meet();
      const auto start = std::chrono::steady_clock::now();
      for (int j = 0; j < size; ++j) work();
      const std::chrono::duration<double, std::micro> found = std::chrono::steady_clock::now() - start;
      least = std::min(least, found.count() / size);
    }
    wait();
    return slowest(least);
  }

 private:
  double slowest(double own) {
    const std::vector<double> all = dist::detail::gathered(group_, own);
    return *std::max_element(all.begin(), all.end());
  }

  ProcessGroup& group_;
  int runs_;
  dist::detail::CudaStream stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// One rank measures products with exchanges, and with cuSPARSE after NCCL.
class Measurement {
 public:
  Measurement(const Arguments& arguments, ProcessGroup& group, Nccl& nccl, Watchdog& watchdog)
      : a_(arguments),
        group_(group),
        nccl_(nccl),
        watchdog_(watchdog),
        watch_(group, arguments.runs),
        part_(arguments.path(group.rank())),
        whole_(arguments.whole),
        b_(sptile::test::rows_of_b<float>(part_.old_ids(), a_.n)),
        reference_(whole_, part_.old_ids(), a_.n, false),
        transposed_(whole_, part_.old_ids(), a_.n, true) {}

  void compare() {
    watchdog_.step("rows for others");
    sptile::test::check_selected_rows<float, dist::CudaMemory>(part_, a_.n);
    one_ = time_one_device();
    all_gather_ = time_all_gather();
    all_to_all_ = time_all_to_all();
  }

  /// `name`: as it was asked for.
  template <class Exchange>
  void run(Exchange& with, const std::string& name) {
    const auto [wire, step, captured, host, captured_host] = time_step(with, name);
    const auto [exchange, local, halo] = time_pieces(with, wire);
    watchdog_.step("results of all ranks");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::vector<std::int64_t> sampled =
        dist::detail::gathered(group_, std::ssize(reference_.sampled()));
    std::vector<std::int64_t> sent = dist::detail::gathered(group_, part_.send_offset().back());
    if (group_.rank() != 0) return;
    cudaDeviceProp device = {};
    check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    const std::int64_t row = a_.n * static_cast<std::int64_t>(sizeof(float));
    std::printf(
        "{\"device\": \"%s\", \"wire\": \"%s\", \"parts\": %lld, \"rows\": %lld, \"entries\": %lld, \"n\": "
        "%lld, "
        "\"bytes_sent\": %lld, \"largest_send\": %lld, \"step\": %.2f, \"captured\": %.2f, \"host\": %.2f, "
        "\"captured_host\": %.2f, \"exchange\": %.2f, \"local\": %.2f, \"halo\": %.2f, \"hidden\": %.3f, "
        "\"one_device\": %.2f, \"all_gather\": %.2f, \"all_to_all\": %.2f, \"sampled\": %lld, \"seconds\": "
        "%.1f}\n",
        device.name, wire.c_str(), static_cast<long long>(group_.size()),
        static_cast<long long>(part_.rows()), static_cast<long long>(part_.entries()),
        static_cast<long long>(a_.n),
        static_cast<long long>(std::accumulate(sent.begin(), sent.end(), std::int64_t{0}) * row),
        static_cast<long long>(*std::max_element(sent.begin(), sent.end()) * row), step, captured, host,
        captured_host, exchange, local, halo, 1 - (step - local - halo) / exchange, one_, all_gather_,
        all_to_all_, static_cast<long long>(std::accumulate(sampled.begin(), sampled.end(), std::int64_t{0})),
        seconds);
    std::fflush(stdout);
  }

 private:
  using SentRows = dist::CudaMemory::SentRows<float>;

  struct Step {
    std::string wire;
    double step, captured, host, captured_host;
  };

  struct Pieces {
    double exchange, local, halo;
  };

  [[nodiscard]] std::size_t elements(std::int64_t rows) const {
    return static_cast<std::size_t>(rows * a_.n);
  }

  /// Checked before.
  template <class Exchange>
  Step time_step(Exchange& with, const std::string& name) {
    watchdog_.step("open the part and plan the product");
    dist::Product<float, Exchange, dist::CudaMemory> product(
        a_.parts, with, {.n = a_.n, .transpose = true, .format = a_.format, .measured = a_.measured});
    watchdog_.step("products");
    sptile::test::check_device_product(product, reference_, transposed_, a_.tolerance());
    watchdog_.step("captured products");
    sptile::test::check_captured_product(product, reference_, transposed_, a_.tolerance());
    watchdog_.step("times of products");
    Array b(b_), c(b_);
    auto captured = product.capture(b.span(), c.span(), watch_.stream());
    const auto run = [&] { product.run(b.span(), c.span(), watch_.stream()); };
    const auto replay = [&] { captured.run(watch_.stream()); };
    const auto wait = [&] { product.wait(); };
    Step found{name, watch_.time(run), watch_.time(replay), watch_.time_host(run, wait),
               watch_.time_host(replay, wait)};
    if constexpr (requires { product.wire(); }) found.wire = product.wire();
    return found;
  }

  std::optional<sptile::Plan> planned(sptile::Matrix matrix) {
    if (matrix.nnz() == 0) return std::nullopt;
    return matrix.plan("spmm", memory_.place({.n = a_.n,
                                              .format = a_.measured && a_.format.empty() ? "any" : a_.format,
                                              .attributes = {{"choice", a_.measured ? 1.0 : 0.0}}}));
  }

  void multiply(const std::optional<sptile::Plan>& plan, const float* b, float* c, double beta) {
    if (plan) plan->run({.dense = {{{b, 0, 0}, {c, 0, 0}}}, .beta = beta}, watch_.stream());
  }

  /// `wire`: that of the product.
  template <class Exchange>
  Pieces time_pieces(Exchange& with, const std::string& wire) {
    watchdog_.step("times of exchange, local and halo product");
    const auto local = planned(sptile::Matrix(a_.path(group_.rank())));
    const sptile::Matrix of_halo(a_.path(group_.rank()), {.matrix = "halo"});
    const auto boundary =
        planned(sptile::Matrix(dist::detail::rows_from(of_halo.csr(), part_.interior()), {.trusted = true}));
    const SentRows rows(memory_, part_, a_.n, false);
    using Halo = typename dist::detail::HaloRowsOf<float, Exchange, dist::CudaMemory>::type;
    Halo halo(with, memory_, rows, part_, a_.n, false);
    halo.connect();
    if constexpr (requires { halo.choices(); })
      for (std::size_t i = 0; i < halo.choices() && halo.wire() != wire; ++i) halo.use(i);
    Array b(b_), c(b_);
    float* const of_boundary = c.data() + elements(part_.interior());
    const auto exchange = [&] {
      halo.fetch(b.data(), watch_.stream());
      halo.finish();
    };
    return {watch_.time(exchange), watch_.time([&] { multiply(local, b.data(), c.data(), 0); }),
            watch_.time([&] { multiply(boundary, halo.received().data(), of_boundary, 1); })};
  }

  double time_one_device() {
    watchdog_.step("one device");
    if (group_.rank() != 0) return watch_.time([] {});
    const auto whole = planned(sptile::Matrix(a_.whole));
    std::vector<std::int32_t> ids(static_cast<std::size_t>(part_.rows()));
    std::iota(ids.begin(), ids.end(), 0);
    const std::vector<float> all = sptile::test::rows_of_b<float>(ids, a_.n);
    Array b(all), c(all);
    const double found = watch_.time([&] { multiply(whole, b.data(), c.data(), 0); });
    reference_.compare("the entire matrix", own_rows(c.to_host()), a_.tolerance());
    return found;
  }

  /// Returns the rows of this rank.
  [[nodiscard]] std::vector<float> own_rows(const std::vector<float>& all) const {
    std::vector<float> own;
    own.reserve(b_.size());
    for (const std::int32_t id : part_.old_ids()) {
      const auto row = all.begin() + id * a_.n;
      own.insert(own.end(), row, row + a_.n);
    }
    return own;
  }

  /// Rows of each rank have a place in B of all, as many places for each as the largest has.
  double time_all_gather() {
    watchdog_.step("all_gather and cuSPARSE");
    std::int64_t most = 0;
    std::vector<std::int32_t> place(static_cast<std::size_t>(part_.rows()));
    for (const std::int64_t owned : dist::detail::gathered(group_, part_.owned()))
      most = std::max(most, owned);
    for (std::int64_t p = 0; p < group_.size(); ++p) {
      auto next = static_cast<std::int32_t>(p * most);
      const sptile::Part part(a_.path(p));
      for (const std::int32_t id : part.old_ids()) place[static_cast<std::size_t>(id)] = next++;
    }
    std::vector<float> own = b_;
    own.resize(elements(most));
    Array b(own), c(b_);
    Buffer all(elements(most * group_.size()));
    const CsrRows rows(whole_.csr(), part_.old_ids(), place, most * group_.size());
    CusparseProduct product(rows, a_.n, all.data(), c.data(), watch_.stream());
    const ncclComm_t communicator = make_communicator();
    const double found = watch_.time([&] {
      check_nccl(ncclAllGather(b.data(), all.data(), own.size(), ncclFloat, communicator, watch_.stream()));
      product.run();
    });
    reference_.compare("all_gather and cuSPARSE", c.to_host(), a_.tolerance());
    check_nccl(ncclCommDestroy(communicator));
    return found;
  }

  /// Rows of others stand behind the own ones.
  double time_all_to_all() {
    watchdog_.step("all_to_all and cuSPARSE");
    std::vector<std::int32_t> place(static_cast<std::size_t>(part_.rows()), -1);
    std::int32_t next = 0;
    for (const std::int32_t id : part_.old_ids()) place[static_cast<std::size_t>(id)] = next++;
    for (const std::int32_t id : part_.halo_ids()) place[static_cast<std::size_t>(id)] = next++;
    std::vector<float> own = b_;
    own.resize(elements(next));
    Array b(own), c(b_);
    Buffer leaving(elements(part_.send_offset().back()));
    const SentRows sent(memory_, part_, a_.n, false);
    CusparseProduct product(CsrRows(whole_.csr(), part_.old_ids(), place, next), a_.n, b.data(), c.data(),
                            watch_.stream());
    const double found = watch_.time([&] {
      sent.gather(b.data(), leaving.data(), watch_.stream());
      nccl_.start(leaving.data(), part_.send_offset(), b.data() + b_.size(), part_.receive_offset(),
                  elements(1) * sizeof(float), watch_.stream());
      nccl_.finish();
      product.run();
    });
    reference_.compare("all_to_all and cuSPARSE", c.to_host(), a_.tolerance());
    return found;
  }

  ncclComm_t make_communicator() {
    ncclUniqueId id = {};
    if (group_.rank() == 0) check_nccl(ncclGetUniqueId(&id));
    ncclComm_t communicator = nullptr;
    check_nccl(ncclCommInitRank(&communicator, static_cast<int>(group_.size()),
                                dist::detail::gathered(group_, id).front(), static_cast<int>(group_.rank())));
    return communicator;
  }

  static void check_nccl(ncclResult_t result) {
    if (result != ncclSuccess) throw sptile::Exception(SPTILE_STATUS_DEVICE, ncclGetErrorString(result));
  }

  const Arguments& a_;
  ProcessGroup& group_;
  Nccl& nccl_;
  Watchdog& watchdog_;
  Stopwatch watch_;
  dist::CudaMemory memory_;
  sptile::Part part_;
  sptile::Matrix whole_;
  std::vector<float> b_;
  Reference reference_, transposed_;
  double one_ = 0, all_gather_ = 0, all_to_all_ = 0;
};

/// A rank ends where others wait for it.
template <class Exchange>
void die(const Arguments& a, ProcessGroup& group, Exchange& exchange, Watchdog& watchdog) {
  watchdog.step("product without rank 1");
  dist::Product<float, Exchange, dist::CudaMemory> product(a.parts, exchange, {.n = a.n});
  if (group.rank() == 1) _exit(3);
  sptile::test::DeviceOperands<float> operands(sptile::test::rows_of_b<float>(product.old_ids(), a.n));
  operands.start([&](auto b, auto c, auto stream) { product.run(b, c, stream); });
  product.wait();
}

/// Calls work(exchange) with the exchange of a name.
template <class Work>
void with_exchange(const std::string& wire, ProcessGroup& group, double seconds, const Work& work) {
  const auto call = [&](auto exchange) { work(*exchange); };
  if (wire == "peers")
    call(std::make_unique<dist::PeerExchange<ProcessGroup>>(group, seconds));
  else if (wire == "auto")
    call(std::make_unique<dist::DeviceExchange<ProcessGroup>>(group, seconds));
  else
    call(std::make_unique<Nccl>(group, seconds, max_ctas(wire)));
}

void measure(const Arguments& a, ProcessGroup& group, double seconds, Watchdog& watchdog) {
  watchdog.step("open NCCL for comparison");
  Nccl nccl(group, seconds);
  watchdog.step("open the matrix and compute the reference");
  Measurement measurement(a, group, nccl, watchdog);
  measurement.compare();
  for (const std::string& wire : a.wires) {
    watchdog.step("open the exchange");
    with_exchange(wire, group, seconds, [&](auto& exchange) { measurement.run(exchange, wire); });
  }
  watchdog.step("close the exchanges");
}

int run_rank(const Arguments& a) {
  const double seconds = a.dies ? 10 : 300;
  try {
    Watchdog watchdog(a.rank, a.steps);
    watchdog.step("open the device");
    check(cudaSetDevice(static_cast<int>(a.rank)), "cudaSetDevice");
    check(cudaFree(nullptr), "cudaFree");
    ProcessGroup group(a.memory, a.rank, a.ranks(), seconds);
    if (a.dies)
      with_exchange(a.wires.front(), group, seconds,
                    [&](auto& exchange) { die(a, group, exchange, watchdog); });
    else
      measure(a, group, seconds, watchdog);
  } catch (const sptile::Exception& e) {
    std::fprintf(stderr, "rank %lld: %s\n", static_cast<long long>(a.rank), e.what());
    return e.status();
  }
  return 0;
}

/// Starts the ranks; whether they end as they should.
int run_all(const Arguments& a, const std::vector<std::string>& words) {
  const std::int64_t ranks = a.ranks();
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  if (ranks < 2 || devices < ranks) {
    std::fprintf(
        stderr,
        "SKIP: there are %d CUDA devices for %lld parts; products over several need one each, and two "
        "at least\n",
        devices, static_cast<long long>(ranks));
    return 77;
  }
  const std::vector<int> codes = sptile::test::run_processes(ranks, words);
  if (std::count(codes.begin(), codes.end(), SPTILE_STATUS_UNSUPPORTED) == std::ssize(codes)) {
    std::fprintf(stderr, "SKIP: the devices cannot map each other's memory\n");
    return 77;
  }
  bool right = true;
  for (std::size_t rank = 0; rank < codes.size(); ++rank) {
    // Whoever needs nothing of rank 1 may end well.
    const bool as_expected = !a.dies     ? codes[rank] == 0
                             : rank == 1 ? codes[rank] == 3
                                         : codes[rank] == SPTILE_STATUS_IO || codes[rank] == 0;
    if (!as_expected) std::fprintf(stderr, "rank %d ended with %d\n", static_cast<int>(rank), codes[rank]);
    right = right && as_expected;
  }
  if (a.dies) right = right && std::count(codes.begin(), codes.end(), SPTILE_STATUS_IO) > 0;
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "product_nccl PARTS WHOLE [wire=nccl|nccl:CTAS|peers|auto,...] [n=128] [runs=50] "
                 "[format=NAME,...] [measured] [steps] [dies]\n");
    return 2;
  }
  try {
    const Arguments a = parse(argc, argv);
    return a.rank < 0 ? run_all(a, {argv, argv + argc}) : run_rank(a);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
