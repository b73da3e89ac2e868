// Exchange of rows between devices in the C interface.
#include <string>

#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/cuda/row_exchange.hpp"

namespace sptile::runtime {
namespace {

static_assert(sizeof(sptile_peer) == sizeof(cuda::Peer) &&
              offsetof(sptile_peer, answer) == offsetof(cuda::Peer, answer) &&
              offsetof(sptile_peer, last) == offsetof(cuda::Peer, last));

/// Returns the error for a number that is not a valid one.
tl::unexpected<Error> invalid_number(const char* field, std::int64_t value, const char* valid) {
  return fail(Errc::usage,
              std::string("exchange.") + field + " = " + std::to_string(value) + "; pass " + valid);
}

Status check_exchange(const sptile_row_exchange& e) {
  if (e.peer_count < 0) return invalid_number("peer_count", e.peer_count, "the number of peers");
  if (e.row_count < 0) return invalid_number("row_count", e.row_count, "the number of rows to send");
  if (e.row_bytes < 2 || e.row_bytes % 2 != 0)
    return invalid_number("row_bytes", e.row_bytes, "a positive multiple of 2");
  if (e.stride_bytes < e.row_bytes || e.stride_bytes % 2 != 0)
    return invalid_number("stride_bytes", e.stride_bytes, "a multiple of 2 of at least row_bytes");
  if (e.blocks < 0) return invalid_number("blocks", e.blocks, "a maximum or 0");
  if (e.ordinal < 0) return invalid_number("ordinal", e.ordinal, "the number of a CUDA device");
  const bool sends = e.row_count > 0 && e.stop == 0;
  if (sends && e.source == nullptr) return null_argument("sptile_exchange_rows", "exchange.source");
  if (e.peer_count == 0) return {};
  if (e.peers == nullptr) return null_argument("sptile_exchange_rows", "exchange.peers");
  if (e.state == nullptr) return null_argument("sptile_exchange_rows", "exchange.state");
  if (e.fault == nullptr) return null_argument("sptile_exchange_rows", "exchange.fault");
  return {};
}

Status exchange(const sptile_row_exchange* from, void* stream) {
  if (from == nullptr) return null_argument("sptile_exchange_rows", "exchange");
  const auto e = read_struct<sptile_row_exchange>(from, SPTILE_SIZE_WITH(sptile_row_exchange, stop),
                                                  SPTILE_ROW_EXCHANGE_INIT, "exchange");
  if (!e) return tl::unexpected(e.error());
  if (Status s = check_exchange(*e); !s) return s;
  return cuda::exchange_rows({.peers = reinterpret_cast<const cuda::Peer*>(e->peers),
                              .rows = e->rows,
                              .source = e->source,
                              .state = e->state,
                              .fault = e->fault,
                              .row_bytes = e->row_bytes,
                              .stride_bytes = e->stride_bytes,
                              .timeout_ns = e->timeout_ns,
                              .row_count = e->row_count,
                              .peer_count = e->peer_count,
                              .blocks = e->blocks,
                              .ordinal = e->ordinal,
                              .stop = e->stop != 0},
                             stream);
}

Result<sptile_distributed_run> checked_run(const sptile_distributed_run* given) {
  constexpr const char* kCall = "sptile_run_distributed";
  if (given == nullptr) return null_argument(kCall, "run");
  auto run = read_struct<sptile_distributed_run>(given, SPTILE_SIZE_WITH(sptile_distributed_run, event),
                                                 SPTILE_DISTRIBUTED_RUN_INIT, "run");
  if (!run) return run;
  if (run->exchange == nullptr) return null_argument(kCall, "run.exchange");
  if (run->local == nullptr) return null_argument(kCall, "run.local");
  if (run->local_operands == nullptr) return null_argument(kCall, "run.local_operands");
  if (run->boundary != nullptr && run->boundary_operands == nullptr)
    return null_argument(kCall, "run.boundary_operands");
  if (run->event == nullptr) return null_argument(kCall, "run.event");
  const auto exchange = read_struct<sptile_row_exchange>(
      run->exchange, SPTILE_SIZE_WITH(sptile_row_exchange, stop), SPTILE_ROW_EXCHANGE_INIT, "exchange");
  if (!exchange) return tl::unexpected(exchange.error());
  return run;
}

sptile_status run_distributed(const sptile_distributed_run* given, void* stream) {
  sptile_distributed_run run = SPTILE_DISTRIBUTED_RUN_INIT;
  sptile_status status = guarded([&]() -> Status {
    const auto checked = checked_run(given);
    if (!checked) return tl::unexpected(checked.error());
    run = *checked;
    return cuda::order_streams(run.exchange->ordinal, stream, run.side, run.event);
  });
  if (status == SPTILE_STATUS_OK) status = sptile_exchange_rows(run.exchange, run.side);
  if (status == SPTILE_STATUS_OK)
    status = sptile_run(run.local, run.local_operands, stream, run.local_workspace);
  if (status == SPTILE_STATUS_OK)
    status = guarded([&] { return cuda::order_streams(run.exchange->ordinal, run.side, stream, run.event); });
  if (status == SPTILE_STATUS_OK && run.boundary != nullptr)
    status = sptile_run(run.boundary, run.boundary_operands, stream, run.boundary_workspace);
  return status;
}

}  // namespace
}  // namespace sptile::runtime

sptile_status sptile_exchange_rows(const sptile_row_exchange* exchange, void* stream) {
  return sptile::runtime::guarded([&] { return sptile::runtime::exchange(exchange, stream); });
}

sptile_status sptile_run_distributed(const sptile_distributed_run* run, void* stream) {
  return sptile::runtime::run_distributed(run, stream);
}
