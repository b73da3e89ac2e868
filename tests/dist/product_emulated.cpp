// Products with operands in device memory, over NCCL, the memory of peers, the faster of both, and an
// exchange of host memory, between emulated devices: what is ordered how, not the kernels, which are those of
// the CPU.
//
//   product_emulated PARTS WHOLE [failures]
//
// WHOLE is a bundle of the matrix; `failures`: ranks do without each other, too. Exit code 0: all is right;
// else a line on stderr says what is not.
#define SPTILE_DIST_NCCL
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "sptile_dist.hpp"
#include "tests/dist/device_product.hpp"
#include "tests/dist/emulated_device.hpp"
#include "tests/dist/threads.hpp"
#include "tests/dist/watchdog.hpp"

namespace {

namespace dist = sptile::dist;
using sptile::test::fail;
using sptile::test::Reference;
using sptile::test::ThreadExchange;
using sptile::test::Threads;

/// As CudaMemory has it, but plans are those of the CPU, put on emulated streams.
struct EmulatedMemory : dist::CudaMemory {
  template <class T>
  using SentRows = dist::detail::SelectedRows<T, EmulatedMemory>;

  static constexpr const char* adds_in_order = "";  // all that csr has on the CPU

  static sptile::PlanOptions place(sptile::PlanOptions options) {
    options.threads = 1;
    return options;
  }
  static void run(const sptile::Plan& plan, const sptile::Operands& operands, void* stream) {
    sptile::test::enqueue(dist::detail::stream_of(stream), {[&plan, operands] { plan.run(operands); }});
  }
};

template <class T, class E>
using Product = dist::Product<T, E, EmulatedMemory>;
using Staged = dist::StagedExchange<ThreadExchange>;

/// An exchange of host memory that takes device memory, too.
struct DirectExchange : ThreadExchange {
  using ThreadExchange::ThreadExchange;
  static bool takes_device_memory() { return true; }
  void exchange_device_memory(const void* from, std::span<const std::int64_t> from_offset, void* to,
                              std::span<const std::int64_t> to_offset, std::size_t row_bytes) {
    start(from, from_offset, to, to_offset, row_bytes);
    finish();
  }
};

struct Files {
  std::string parts, whole;
  [[nodiscard]] std::int64_t ranks() const {
    return sptile::Part(dist::detail::path_of_part(parts, 0)).parts();
  }
};

/// Six runs, right in many orders.
template <class T>
void check_orders(const Files& files) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    sptile::test::seed_emulated_devices(seed);
    Threads threads(files.ranks());
    threads.run([&](std::int64_t rank) {
      sptile::test::Watchdog watchdog(rank);
      watchdog.step("products in order " + std::to_string(seed));
      const sptile::Matrix whole(files.whole);
      sptile::test::check_selected_rows<T, EmulatedMemory>(
          sptile::Part(dist::detail::path_of_part(files.parts, rank)), 5);
      const auto check = [&](auto& exchange, bool never_slower) {
        using Exchange = std::remove_reference_t<decltype(exchange)>;
        const dist::ProductOptions options{
            .n = 5, .transpose = true, .measured = never_slower, .never_slower = never_slower};
        Product<T, Exchange> product(files.parts, exchange, options);
        const Reference<T> forward(whole, product.old_ids(), options.n, false),
            transposed(whole, product.old_ids(), options.n, true);
        sptile::test::check_device_product(product, forward, transposed);
        if constexpr (dist::Capturable<Exchange>)
          sptile::test::check_captured_product(product, forward, transposed);
        const auto& [divided, alone] = product.measured();
        if (product.fell_back() != (never_slower && alone < divided)) fail("the slower one was taken");
      };
      DirectExchange host(threads, rank);
      dist::NcclExchange nccl(host, 60);
      check(nccl, seed % 4 == 3);
      {
        dist::PeerExchange peers(host, 60);
        check(peers, seed % 4 == 1);
        check(peers, false);  // after the memory of others was retired
      }
      dist::DeviceExchange either(host, 60);
      check(either, seed % 4 == 0);
      ThreadExchange plain(threads, rank);
      Staged staged(plain);
      check(staged, seed % 4 == 2);
      dist::StagedExchange<DirectExchange> direct(host);
      if (staged.direct() || !direct.direct()) fail("what is staged is not what should be");
      check(direct, false);
    });
  }
}

/// Checks that `work` throws an error with one of these words in each rank except the absent one.
void refused(const char* what, std::int64_t ranks, const std::vector<std::string>& words,
             const std::function<void(std::int64_t, ThreadExchange&)>& work, std::int64_t absent = -1) {
  Threads threads(ranks);
  threads.run([&](std::int64_t rank) {
    ThreadExchange host(threads, rank);
    std::string said;
    try {
      work(rank, host);
    } catch (const sptile::Exception& e) {
      said = e.what();
    }
    bool known = rank == absent;
    for (const std::string& one : words) known = known || said.find(one) != std::string::npos;
    if (!known) fail(std::string(what) + " is answered with '" + said + "'");
  });
  std::printf("refused: %s\n", what);
}

/// Rank 2 of a group claims to run on another host.
struct OtherHost : ThreadExchange {
  using ThreadExchange::ThreadExchange;
  void all_gather(const void* from, std::size_t bytes, void* to) {
    std::string id, message(static_cast<const char*>(from), bytes);
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    const std::size_t at = message.find(id);
    if (rank() == 2 && at != std::string::npos) message[at] = message[at] == '0' ? '1' : '0';
    ThreadExchange::all_gather(message.data(), bytes, to);
  }
};

/// Exchanges through the memory of peers that cannot map it, or that end.
template <class T>
void check_peers_fail(const Files& files) {
  using Peers = dist::PeerExchange<ThreadExchange>;
  const std::int64_t ranks = files.ranks();
  Threads threads(ranks);
  threads.run([&](std::int64_t rank) {
    OtherHost host(threads, rank);
    try {
      const dist::PeerExchange<OtherHost> peers(host, 10);
      fail("a rank on another host is not refused");
    } catch (const sptile::Exception& e) {
      if (e.status() != SPTILE_STATUS_UNSUPPORTED ||
          std::string(e.what()).find("rank 2: runs on another host than rank 0") == std::string::npos)
        fail(std::string("another host is answered with '") + e.what() + "'");
    }
  });
  sptile::test::refuse_mapping(true);
  refused("devices that cannot map each other", ranks,
          {"rank 0: cudaIpcOpenMemHandle of rank 1: operation not supported"},
          [&](std::int64_t, ThreadExchange& host) { const Peers peers(host, 10); });
  threads.run([&](std::int64_t rank) {
    ThreadExchange host(threads, rank);
    dist::DeviceExchange either(host, 10);
    const Product<T, dist::DeviceExchange<ThreadExchange>> product(files.parts, either, {.n = 3});
    if (!product.wire().starts_with("nccl")) fail("devices that cannot map each other use " + product.wire());
  });
  sptile::test::refuse_mapping(false);
  refused("operands of the wrong size in one rank, when a product is captured", ranks,
          {"rank 1: B has 0 elements"}, [&](std::int64_t rank, ThreadExchange& host) {
            Peers peers(host, 10);
            Product<T, Peers> product(files.parts, peers, {.n = 3});
            const std::vector<T> b(rank == 1 ? 0 : static_cast<std::size_t>(product.owned()) * 3);
            std::vector<T> c(b.size());
            (void)product.capture(b, c);
          });
  const auto run_without = [&](auto& exchange, bool throws) {
    Product<T, std::remove_reference_t<decltype(exchange)>> product(files.parts, exchange, {.n = 3});
    if (exchange.rank() == 1 && throws) throw sptile::Exception(SPTILE_STATUS_IO, "has stopped");
    sptile::test::DeviceOperands<T> operands(
        std::vector<T>(static_cast<std::size_t>(product.owned()) * 3, T(1)));
    operands.start([&](auto b, auto c, auto stream) {
      if (exchange.rank() != 1) product.run(b, c, stream);
    });
    if (exchange.rank() != 1) product.wait();
    std::this_thread::sleep_for(std::chrono::seconds(2));  // the others have stopped
  };
  const std::vector<std::string> gone = {"no rows from rank 1 within 0.5 s", "has stopped"};
  refused(
      "a rank that takes no part in a run", ranks, gone,
      [&](std::int64_t, ThreadExchange& host) {
        Peers peers(host, 0.5);
        run_without(peers, false);
      },
      1);
  const auto begin = std::chrono::steady_clock::now();
  refused("a rank that throws before a run", ranks, {"has stopped"}, [&](std::int64_t, ThreadExchange& host) {
    Peers peers(host, 60);
    run_without(peers, true);
  });
  if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(20))
    fail("peers of a rank that throws wait for their time limit");
  refused("a rank that throws before a run by the faster exchange", ranks,
          {"no rows from rank 1 within 0.5 s", "has stopped", "no answer from other ranks within 0.5",
           "remote process exited"},
          [&](std::int64_t, ThreadExchange& host) {
            dist::DeviceExchange either(host, 0.5);
            run_without(either, true);
          });
}

template <class T>
void check_failures(const Files& files) {
  const std::int64_t ranks = files.ranks();
  refused("another n in one rank", ranks, {"rank 1: n = 4, but 3 on rank 0"},
          [&](std::int64_t rank, ThreadExchange& host) {
            dist::NcclExchange nccl(host, 10);
            Product<T, dist::NcclExchange<ThreadExchange>>(files.parts, nccl, {.n = rank == 1 ? 4 : 3});
          });
  refused("a rank without its part", ranks, {"rank 2: "}, [&](std::int64_t rank, ThreadExchange& host) {
    dist::NcclExchange nccl(host, 10);
    Product<T, dist::NcclExchange<ThreadExchange>>(rank == 2 ? "nowhere" : files.parts, nccl, {.n = 3});
  });
  const std::string apart = files.parts + "-apart";  // what rank 0 has, for the whole matrix
  std::filesystem::copy(files.parts, apart);
  std::filesystem::remove(dist::detail::path_of_part(apart, 2));
  refused("a part that rank 0 cannot read", ranks, {"rank 0: " + dist::detail::path_of_part(apart, 2)},
          [&](std::int64_t rank, ThreadExchange& host) {
            dist::NcclExchange nccl(host, 10);
            Product<T, dist::NcclExchange<ThreadExchange>>(rank == 0 ? apart : files.parts, nccl,
                                                           {.n = 3, .never_slower = true});
          });
  std::filesystem::copy(dist::detail::path_of_part(files.parts, 1), dist::detail::path_of_part(apart, 2));
  refused("a part that rank 0 has twice", ranks,
          {"part-0002.h5: declares itself part 1, but is stored as part 2"},
          [&](std::int64_t rank, ThreadExchange& host) {
            dist::NcclExchange nccl(host, 10);
            Product<T, dist::NcclExchange<ThreadExchange>>(rank == 0 ? apart : files.parts, nccl,
                                                           {.n = 3, .never_slower = true});
          });
  refused("columns that no memory holds", ranks, {"rank 0: n = 4611686018427387904, with "},
          [&](std::int64_t, ThreadExchange& host) {
            dist::NcclExchange nccl(host, 10);
            Product<T, dist::NcclExchange<ThreadExchange>>(files.parts, nccl, {.n = std::int64_t{1} << 62});
          });
  // One finds that its time is over, and aborts; the others find that, or the same.
  const std::vector<std::string> gone = {"no answer from other ranks within 0.5", "remote process exited"};
  refused(
      "a rank that does not come to a run", ranks, gone,
      [&](std::int64_t rank, ThreadExchange& host) {
        dist::NcclExchange nccl(host, 0.5);
        Product<T, dist::NcclExchange<ThreadExchange>> product(files.parts, nccl, {.n = 3});
        sptile::test::DeviceOperands<T> operands(
            std::vector<T>(static_cast<std::size_t>(product.owned()) * 3, T(1)));
        const auto run = [&](auto b, auto c, auto stream) {
          if (rank != 1) product.run(b, c, stream);
        };
        operands.start(run);
        if (rank != 1) product.wait();
      },
      1);
}

template <class T>
void check_all(const Files& files, bool failures) {
  check_orders<T>(files);
  if (failures) {
    check_failures<T>(files);
    check_peers_fail<T>(files);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Files files{argv[1], argv[2]};
  const bool failures = argc > 3 && std::string(argv[3]) == "failures";
  if (sptile::Matrix(files.whole).type() == sptile::Type::f64)
    check_all<double>(files, failures);
  else
    check_all<float>(files, failures);
  return 0;
}
