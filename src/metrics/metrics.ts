import { BUDGET_KINDS } from "../base/MemoryBudget.ts"
import { alertMails, alertMailsWaiting, namesExpiring, ownNames } from "./alertMetrics.ts"
import { facts } from "./categories.ts"
import { DNS_METRICS } from "./dnsMetrics.ts"
import { ELECTRUM_METRICS } from "./electrumMetrics.ts"
import { counter, counterBy, gauge, gaugeBy, histogram, histogramBy, type Table } from "./families.ts"
import { lightActive, lightBlocks, lightHandovers, lightHeight, lightNames, lightUnchecked } from "./lightMetrics.ts"
import { storageChecked, storageDamage, storageDoubts, storagePasses } from "./storageMetrics.ts"
import { webhookDeliveries, webhookLag, webhooks } from "./webhookMetrics.ts"

// Durations are in seconds, sizes in bytes. Label values are closed sets: methods of the method table, and the unions
// below. Gauges and network bytes are read at each scrape, and every 15 seconds for a host's registry
// (`node/layers/samples.ts`). The others are recorded where the event happens.

export const blockchainHeight = gauge(facts(
  "block processing",
  "svcd_blockchain_height",
  "Height of the last block whose transactions are connected."
))

/** Without a label, which would leave a series per block. One number shows whether two nodes agree. */
export const blockchainBestHash = gauge(facts(
  "block processing",
  "svcd_blockchain_best_hash",
  "The last 13 hexadecimal digits of the hash of the last connected block, as a number."
))

export const blockchainDifficulty = gauge(facts(
  "block processing",
  "svcd_blockchain_difficulty",
  "Difficulty of the last connected block, as a multiple of the minimum."
))

export const blockchainHeaders = gauge(facts(
  "block processing",
  "svcd_blockchain_headers_height",
  "Height of the best known header: if it is above svcd_blockchain_height, blocks are missing."
))

export const blockchainSyncing = gauge(facts(
  "block processing",
  "svcd_blockchain_syncing",
  "1 while known or expected blocks are missing, as on /ready; 0 at the tip."
))

export const blockchainTipTime = gauge(facts(
  "block processing",
  "svcd_blockchain_tip_timestamp_seconds",
  "Time in the header of the last connected block, in seconds since 1970."
))

export const BLOCK_CHANGES = ["connected", "disconnected"] as const

export const blocks = counterBy({
  ...facts(
    "block processing",
    "svcd_blocks_total",
    "Blocks connected to the best chain, and blocks disconnected from it by a reorg."
  ),
  label: "change",
  values: BLOCK_CHANGES
})

export const blockConnectDuration = histogram({
  ...facts(
    "block processing",
    "svcd_block_connect_duration_seconds",
    "Time to connect a block: rules, scripts and undo data. Blocks connected as one batch count with equal shares."
  ),
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
})

export const nameDbNames = gauge(facts(
  "name operations",
  "svcd_namedb_names_count",
  "Unexpired names in names.db."
))

export const NAME_OPERATIONS = ["name_new", "name_firstupdate", "name_update"] as const

export const nameOperations = counterBy({
  ...facts("name operations", "svcd_name_operations_total", "Name operations in connected blocks."),
  label: "operation",
  values: NAME_OPERATIONS
})

export const peersConnected = gauge(facts(
  "network",
  "svcd_network_peers_connected",
  "Peers whose version handshake is complete."
))

export const bytesReceived = counter(facts(
  "network",
  "svcd_network_bytes_received_total",
  "Bytes received from peers, handshakes included."
))

export const bytesSent = counter(facts(
  "network",
  "svcd_network_bytes_sent_total",
  "Bytes sent to peers, handshakes included."
))

export const misbehavingPeers = counter(facts(
  "network",
  "svcd_network_misbehaving_peers_total",
  "Connections closed because the peer violated the protocol or sent invalid data."
))

export const mempoolTransactions = gauge(facts(
  "transactions",
  "svcd_mempool_transactions",
  "Unconfirmed transactions in the mempool."
))

export const mempoolSize = gauge(facts(
  "transactions",
  "svcd_mempool_size_bytes",
  "Virtual bytes of the transactions in the mempool."
))

export const TRANSACTION_EVENTS = [
  "accepted",
  "relayed",
  "mined",
  "replaced",
  "expired",
  "evicted",
  "conflicted",
  "reorganised"
] as const

export type TransactionEvent = typeof TRANSACTION_EVENTS[number]

export const transactions = counterBy({
  ...facts(
    "transactions",
    "svcd_transactions_total",
    "Transactions accepted to the mempool, relayed to a first peer, and removed from the mempool, by the reason."
  ),
  label: "event",
  values: TRANSACTION_EVENTS
})

/** Headers, blocks, and transactions by kind of refusal. */
export const VALIDATION_ERRORS = [
  "header",
  "block",
  "transaction_consensus",
  "transaction_policy",
  "transaction_witness",
  "transaction_missing_inputs",
  "transaction_conflict",
  "transaction_mempool_full",
  "transaction_premature"
] as const

export type ValidationError = typeof VALIDATION_ERRORS[number]

export const validationErrors = counterBy({
  ...facts(
    "validation errors",
    "svcd_validation_errors_total",
    "Refused headers, blocks and transactions, transactions by the kind of refusal."
  ),
  label: "type",
  values: VALIDATION_ERRORS
})

export const nameDbSize = gauge(facts(
  "database performance",
  "svcd_namedb_size_bytes",
  "Size of names.db without its write-ahead log."
))

export const nameDbReadLatency = histogram({
  ...facts(
    "database performance",
    "svcd_namedb_read_latency_seconds",
    "Time of a read from names.db, one row or a page of a list. Hits in the cache of records do not count."
  ),
  buckets: [0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.001, 0.01, 0.1, 1]
})

export const nameDbWriteLatency = histogram({
  ...facts(
    "database performance",
    "svcd_namedb_write_latency_seconds",
    "Time of a transaction that writes names.db: the names of a block, or of many while the node syncs."
  ),
  buckets: [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
})

export const chainstateFlushDuration = histogram({
  ...facts(
    "database performance",
    "svcd_chainstate_flush_duration_seconds",
    "Time to store coins, name claims and block index. It blocks all other work."
  ),
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]
})

const RPC_BUCKETS = [0.000_1, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

export const rpcRequests = counterBy({
  ...facts(
    "RPC performance",
    "svcd_rpc_requests_total",
    "RPC calls answered, failed ones included; each call of a batch counts. Methods that do not exist share a label."
  ),
  label: "method"
})

export const rpcRequestDuration = histogramBy({
  ...facts(
    "RPC performance",
    "svcd_rpc_request_duration_seconds",
    "Time from a parsed RPC call to its encoded answer."
  ),
  label: "method",
  buckets: RPC_BUCKETS
})

export const rpcDuration = histogramBy({
  ...facts(
    "RPC performance",
    "svcd_rpc_duration_seconds",
    "Time of the method of an RPC call, without the encoding of its answer."
  ),
  label: "method",
  buckets: RPC_BUCKETS
})

export const rpcErrors = counterBy({
  ...facts("RPC performance", "svcd_rpc_errors_total", "RPC calls answered with an error."),
  label: "method"
})

export const rpcInFlight = gauge(facts(
  "RPC performance",
  "svcd_rpc_requests_in_flight",
  "RPC calls that wait for something: a disk, a peer, a new block."
))

/** `other` is for statuses that HTTP may add. */
export const REFUSALS = ["400", "401", "403", "404", "405", "408", "413", "429", "500", "501", "503", "other"] as const

export type RefusalStatus = typeof REFUSALS[number]

export const rpcRefused = counterBy({
  ...facts(
    "RPC performance",
    "svcd_rpc_refused_total",
    "HTTP requests refused before they reached a method, by status."
  ),
  label: "status",
  values: REFUSALS
})

export const ERROR_TYPES = [
  "rpc_malformed",
  "rpc_unknown_method",
  "rpc_invalid_params",
  "rpc_not_found",
  "rpc_wallet",
  "rpc_network",
  "rpc_unavailable",
  "rpc_verification",
  "rpc_internal",
  "rpc_other",
  "defect",
  "failure"
] as const

export type ErrorType = typeof ERROR_TYPES[number]

export const errors = counterBy({
  ...facts(
    "error breakdown",
    "svcd_errors_total",
    "Errors by type: RPC calls by error code, and log entries of level error, defects of svcd as a separate type."
  ),
  label: "type",
  values: ERROR_TYPES
})

export const residentMemory = gauge(facts(
  "runtime",
  "svcd_process_resident_memory_bytes",
  "Memory of the process that is in RAM."
))

export const memoryBudget = gaugeBy({
  ...facts(
    "runtime",
    "svcd_memory_budget_bytes",
    "Memory held for peers and RPC callers, by kind. Above the limit of a kind, svcd refuses and disconnects."
  ),
  label: "kind",
  values: BUDGET_KINDS
})

export const memoryRefused = counterBy({
  ...facts(
    "runtime",
    "svcd_memory_refused_total",
    "Messages, requests and answers refused because their peer or caller held too much memory."
  ),
  label: "kind",
  values: BUDGET_KINDS
})

export const memoryEvicted = counterBy({
  ...facts(
    "runtime",
    "svcd_memory_evicted_total",
    "Peers and callers disconnected because they held the most memory of a kind that reached its limit."
  ),
  label: "kind",
  values: BUDGET_KINDS
})

export const processStart = gauge(facts(
  "runtime",
  "svcd_process_start_time_seconds",
  "Start time of the process, in seconds since 1970."
))

export const eventLoopDelay = histogram({
  ...facts(
    "runtime",
    "svcd_event_loop_delay_seconds",
    "Delay of a timer of 20 ms, in an idle process of up to 1.3 s: how long other work blocked the event loop."
  ),
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5]
})

export const METRICS: Table = [
  blockchainHeight,
  blockchainBestHash,
  blockchainDifficulty,
  blockchainHeaders,
  blockchainSyncing,
  blockchainTipTime,
  blocks,
  blockConnectDuration,
  nameDbNames,
  nameOperations,
  namesExpiring,
  ownNames,
  alertMails,
  alertMailsWaiting,
  lightActive,
  lightHeight,
  lightBlocks,
  lightNames,
  lightUnchecked,
  lightHandovers,
  webhooks,
  webhookLag,
  webhookDeliveries,
  ...DNS_METRICS,
  ...ELECTRUM_METRICS,
  peersConnected,
  bytesReceived,
  bytesSent,
  misbehavingPeers,
  mempoolTransactions,
  mempoolSize,
  transactions,
  validationErrors,
  nameDbSize,
  nameDbReadLatency,
  nameDbWriteLatency,
  chainstateFlushDuration,
  rpcRequests,
  rpcRequestDuration,
  rpcDuration,
  rpcErrors,
  rpcInFlight,
  rpcRefused,
  errors,
  storageDamage,
  storageChecked,
  storagePasses,
  storageDoubts,
  residentMemory,
  memoryBudget,
  memoryRefused,
  memoryEvicted,
  processStart,
  eventLoopDelay
]
