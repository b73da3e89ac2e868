// Communities of a graph in device memory, with the merges of reorder::merge_communities.
#pragma once

#include <utility>

#include "runtime/cuda/reorder/acceptance.hpp"
#include "runtime/cuda/reorder/by_degree.hpp"
#include "runtime/cuda/reorder/choices.hpp"
#include "runtime/cuda/reorder/link_memory.hpp"

namespace sptile::runtime::cuda::rabbit {

struct Forest {
  std::int32_t *parent = nullptr, *position = nullptr, *size = nullptr;  ///< see Vertices
};

/// Work of a search for communities, as reorder::MergeWork.
struct MergeCounts {
  std::int64_t rounds = 0;
  std::int64_t choices = 0;  ///< including those that were deferred
  std::int64_t reads = 0;    ///< links read
};

/// Rounds of choices, proposals and acceptance; see decision 0043. A round has two synchronizations: after
/// its links and lists are counted, and after its merges and deferred vertices.
template <class Run>
class Aggregation {
 public:
  /// stored_links: space for sums of links; it grows if necessary.
  Aggregation(Run& run, const DeviceGraph& graph, std::int64_t stored_links)
      : run_(run), graph_(graph), memory_(stored_links) {}

  Result<Forest> merge(MergeCounts& counts) {
    if (Status s = start(); !s) return tl::unexpected(s.error());
    while (round_ < order_.ends.size() || deferred_ > 0) {
      if (Status s = run_round(counts); !s) return tl::unexpected(s.error());
      ++counts.rounds;
    }
    return Forest{vertices_.parent, vertices_.position, vertices_.size};
  }

 private:
  struct Batches {
    std::int32_t *now = nullptr, *next = nullptr;

    void place(Arena& arena, std::int64_t vertices) {
      arena.take(now, vertices);
      arena.take(next, vertices);
    }
  };

  Status start() {
    auto order = by_ascending_degree(run_, graph_);
    if (!order) return tl::unexpected(order.error());
    order_ = std::move(*order);
    const std::int64_t n = graph_.vertices;
    if (Status s = vertices_.make(run_, n); !s) return s;
    if (Status s = merges_.make(run_, n); !s) return s;
    if (Status s = batches_.make(run_, n); !s) return s;
    run_.each(n, StartVertices{graph_, vertices_});
    return run_.status();
  }

  Status run_round(MergeCounts& counts) {
    const std::int64_t first = round_ == 0 ? 0 : order_.ends[round_ - 1];
    if (round_ < order_.ends.size()) {
      const std::int64_t added = order_.ends[round_] - first;
      run_.copy(batches_.now + deferred_, order_.vertices.order + first,
                static_cast<std::size_t>(added) * sizeof(std::int32_t));
      deferred_ += added;
      ++round_;
    }
    const std::int64_t size = std::exchange(deferred_, 0);
    if (Status s = batch_.reserve(run_, size); !s) return s;
    Round round{graph_, vertices_, merges_, batches_.now, size, batch_.parts(), false};
    round.frugal = counts.reads > communities::kReadsPerEdge * graph_.links;
    run_.each(size + 1, PlanChoice{round});
    run_.sum(round.batch.first_link, size + 1);
    run_.sum(round.batch.first_list, size + 1);
    const auto planned = download_numbers(
        run_, {count_of(round.batch.first_link + size), Number(round.batch.first_list + size)});
    if (!planned) return tl::unexpected(planned.error());
    const auto [links, lists] = *planned;
    counts.choices += size;
    counts.reads += links;
    if (links == 0) return {};  // vertices without neighbors
    if (Status s = choose(round, links, lists); !s) return s;
    return accept(round, static_cast<std::uint64_t>(counts.rounds) + 1,
                  counts.reads > communities::kGiveUpPerEdge * graph_.links);
  }

  static Number count_of(const std::int64_t* count) { return reinterpret_cast<const std::uint64_t*>(count); }

  Status choose(const Round& round, std::int64_t links, std::int64_t lists) {
    if (Status s = lists_.reserve(run_, lists); !s) return s;
    if (Status s = tables_.reserve(run_, links); !s) return s;
    if (Status s = round.frugal ? Status() : make_room(round, links); !s) return s;
    run_.each(round.size + 1, WriteLists{round, lists_.parts()});
    WeightedLink* const slots = tables_.parts().slots;
    run_.fill(slots, 2 * static_cast<std::size_t>(links) * sizeof *slots);
    const OffsetRows<std::int64_t> by_list{lists_.parts().first_link, lists, links};
    run_.each(by_list.steps_apart(), SumLinks{round, lists_.parts(), by_list, memory_.links(), slots});
    const UsedSlots used{{round.batch.first_link, round.size, links}, slots};
    const std::int64_t steps = used.by_vertex.steps_apart();
    run_.each(steps, FindGain{round, used});
    run_.each(steps, FindTarget{round, used});
    run_.each(round.size + 1, CountKept{round});
    run_.sum(round.batch.kept, round.size + 1);
    run_.each(round.size, StartKept{round, memory_.used(), merged_});
    run_.each(steps, FinishChoices{round, used, memory_.links() + memory_.used()});
    return run_.status();
  }

  Status make_room(const Round& round, std::int64_t links) {
    const std::int64_t next = order_.ends[round_ - 1];
    return memory_.reserve(run_, links, vertices_, graph_.vertices, merges_, merged_,
                           {batches_.now, order_.vertices.order + next, round.size, graph_.vertices - next});
  }

  Status accept(Round& round, std::uint64_t number, bool give_up) {
    const std::int64_t size = round.size;
    run_.each(size, Propose{round});
    run_.each(size, Block{round, number});
    run_.each(size, KeyProposals{round});
    run_.sort(batch_.parts().sort, size, 0, bits_for(graph_.vertices));
    round.batch = batch_.parts();  // the sort may have exchanged its arrays
    run_.clear(round.batch.accepted, static_cast<std::size_t>(size + 1) * sizeof *round.batch.accepted);
    const Proposals proposals{round};
    run_.blocks(size, Accept{proposals});
    run_.sum(round.batch.accepted, size + 1);
    run_.each(size, AddMerges{proposals, merged_});
    run_.each(size + 1, MarkDeferred{round, give_up});
    run_.sum(round.batch.deferred, size + 1);
    run_.each(size, WriteDeferred{round, batches_.next});
    const auto done =
        download_numbers(run_, {count_of(round.batch.kept + size), Number(round.batch.accepted + size),
                                Number(round.batch.deferred + size)});
    if (!done) return tl::unexpected(done.error());
    memory_.use((*done)[0]);
    merged_ += static_cast<std::int32_t>((*done)[1]);
    deferred_ = (*done)[2];
    std::swap(batches_.now, batches_.next);
    return {};
  }

  Run& run_;
  DeviceGraph graph_;
  DegreeOrder order_;
  std::size_t round_ = 0;      // next division of order_
  std::int64_t deferred_ = 0;  // vertices of the next round so far
  std::int32_t merged_ = 0;    // number of merges
  LinkMemory memory_;
  Workspace<Vertices> vertices_;
  Workspace<Merges> merges_;
  Workspace<Batches> batches_;
  Growing<Batch> batch_;
  Growing<Lists> lists_;
  Growing<Tables> tables_;
};

}  // namespace sptile::runtime::cuda::rabbit
