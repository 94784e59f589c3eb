import { BUDGET_KINDS } from "../base/MemoryBudget.ts"
import { ALERT_METRICS } from "./alertMetrics.ts"
import { DNS_METRICS } from "./dnsMetrics.ts"
import { ELECTRUM_METRICS } from "./electrumMetrics.ts"
import { metricsOf, type Table } from "./families.ts"
import { LIGHT_METRICS } from "./lightMetrics.ts"
import { STORAGE_METRICS } from "./storageMetrics.ts"
import { WEBHOOK_METRICS } from "./webhookMetrics.ts"

// Durations are in seconds, sizes in bytes. Label values are closed sets: methods of the method table, and the unions
// below. Gauges and network bytes are read at each scrape, and every 15 seconds for a host's registry
// (`node/layers/samples.ts`). The others are recorded where the event happens.

const chain = metricsOf("block processing")

export const blockchainHeight = chain.gauge(
  "svcd_blockchain_height",
  "Height of the last block whose transactions are connected."
)

/** Without a label, which would leave a series per block. One number shows whether two nodes agree. */
export const blockchainBestHash = chain.gauge(
  "svcd_blockchain_best_hash",
  "The last 13 hexadecimal digits of the hash of the last connected block, as a number."
)

export const blockchainDifficulty = chain.gauge(
  "svcd_blockchain_difficulty",
  "Difficulty of the last connected block, as a multiple of the minimum."
)

export const blockchainHeaders = chain.gauge(
  "svcd_blockchain_headers_height",
  "Height of the best known header: if it is above svcd_blockchain_height, blocks are missing."
)

export const blockchainSyncing = chain.gauge(
  "svcd_blockchain_syncing",
  "1 while known or expected blocks are missing, as on /ready; 0 at the tip."
)

export const blockchainTipTime = chain.gauge(
  "svcd_blockchain_tip_timestamp_seconds",
  "Time in the header of the last connected block, in seconds since 1970."
)

/** Only indexes that are on have a series: 0 for the others would look like the longest lag. */
export const indexHeight = chain.gaugeBy(
  "svcd_index_height",
  "Height of the last block in an optional index, named as in getindexinfo: below svcd_blockchain_height, it is being built.",
  { label: "index" }
)

export const BLOCK_CHANGES = ["connected", "disconnected"] as const

export const blocks = chain.counterBy(
  "svcd_blocks_total",
  "Blocks connected to the best chain, and blocks disconnected from it by a reorg.",
  { label: "change", values: BLOCK_CHANGES }
)

export const blockConnectDuration = chain.histogram(
  "svcd_block_connect_duration_seconds",
  "Time to connect a block: rules, scripts and undo data. Blocks connected as one batch count with equal shares.",
  [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
)

const names = metricsOf("name operations")

export const nameDbNames = names.gauge("svcd_namedb_names_count", "Unexpired names in names.db.")

export const NAME_OPERATIONS = ["name_new", "name_firstupdate", "name_update"] as const

export const nameOperations = names.counterBy(
  "svcd_name_operations_total",
  "Name operations in connected blocks.",
  { label: "operation", values: NAME_OPERATIONS }
)

const network = metricsOf("network")

export const peersConnected = network.gauge(
  "svcd_network_peers_connected",
  "Peers whose version handshake is complete."
)

export const bytesReceived = network.counter(
  "svcd_network_bytes_received_total",
  "Bytes received from peers, handshakes included."
)

export const bytesSent = network.counter("svcd_network_bytes_sent_total", "Bytes sent to peers, handshakes included.")

export const misbehavingPeers = network.counter(
  "svcd_network_misbehaving_peers_total",
  "Connections closed because the peer violated the protocol or sent invalid data."
)

const mempool = metricsOf("transactions")

export const mempoolTransactions = mempool.gauge(
  "svcd_mempool_transactions",
  "Unconfirmed transactions in the mempool."
)

export const mempoolSize = mempool.gauge("svcd_mempool_size_bytes", "Virtual bytes of the transactions in the mempool.")

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

export const transactions = mempool.counterBy(
  "svcd_transactions_total",
  "Transactions accepted to the mempool, relayed to a first peer, and removed from the mempool, by the reason.",
  { label: "event", values: TRANSACTION_EVENTS }
)

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

const validation = metricsOf("validation errors")

export const validationErrors = validation.counterBy(
  "svcd_validation_errors_total",
  "Refused headers, blocks and transactions, transactions by the kind of refusal.",
  { label: "type", values: VALIDATION_ERRORS }
)

const database = metricsOf("database performance")

export const nameDbSize = database.gauge("svcd_namedb_size_bytes", "Size of names.db without its write-ahead log.")

export const nameDbReadLatency = database.histogram(
  "svcd_namedb_read_latency_seconds",
  "Time of a read from names.db, one row or a page of a list. Hits in the cache of records do not count.",
  [0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.001, 0.01, 0.1, 1]
)

export const nameDbWriteLatency = database.histogram(
  "svcd_namedb_write_latency_seconds",
  "Time of a transaction that writes names.db: the names of a block, or of many while the node syncs.",
  [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
)

export const chainstateFlushDuration = database.histogram(
  "svcd_chainstate_flush_duration_seconds",
  "Time to store coins, name claims and block index. It blocks all other work.",
  [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]
)

const RPC_BUCKETS = [0.000_1, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

const rpc = metricsOf("RPC performance")

export const rpcRequests = rpc.counterBy(
  "svcd_rpc_requests_total",
  "RPC calls answered, failed ones included; each call of a batch counts. Methods that do not exist share a label.",
  { label: "method" }
)

export const rpcRequestDuration = rpc.histogramBy(
  "svcd_rpc_request_duration_seconds",
  "Time from a parsed RPC call to its encoded answer.",
  { label: "method", buckets: RPC_BUCKETS }
)

export const rpcDuration = rpc.histogramBy(
  "svcd_rpc_duration_seconds",
  "Time of the method of an RPC call, without the encoding of its answer.",
  { label: "method", buckets: RPC_BUCKETS }
)

export const rpcErrors = rpc.counterBy(
  "svcd_rpc_errors_total",
  "RPC calls answered with an error.",
  { label: "method" }
)

export const rpcInFlight = rpc.gauge(
  "svcd_rpc_requests_in_flight",
  "RPC calls that wait for something: a disk, a peer, a new block."
)

/** `other` is for statuses that HTTP may add. */
export const REFUSALS = ["400", "401", "403", "404", "405", "408", "413", "429", "500", "501", "503", "other"] as const

export type RefusalStatus = typeof REFUSALS[number]

export const rpcRefused = rpc.counterBy(
  "svcd_rpc_refused_total",
  "HTTP requests refused before they reached a method, by status.",
  { label: "status", values: REFUSALS }
)

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

const breakdown = metricsOf("error breakdown")

export const errors = breakdown.counterBy(
  "svcd_errors_total",
  "Errors by type: RPC calls by error code, and log entries of level error, defects of svcd as a separate type.",
  { label: "type", values: ERROR_TYPES }
)

const runtime = metricsOf("runtime")

export const residentMemory = runtime.gauge(
  "svcd_process_resident_memory_bytes",
  "Memory of the process that is in RAM."
)

export const memoryBudget = runtime.gaugeBy(
  "svcd_memory_budget_bytes",
  "Memory held for peers and RPC callers, by kind. Above the limit of a kind, svcd refuses and disconnects.",
  { label: "kind", values: BUDGET_KINDS }
)

export const memoryRefused = runtime.counterBy(
  "svcd_memory_refused_total",
  "Messages, requests and answers refused because their peer or caller held too much memory.",
  { label: "kind", values: BUDGET_KINDS }
)

export const memoryEvicted = runtime.counterBy(
  "svcd_memory_evicted_total",
  "Peers and callers disconnected because they held the most memory of a kind that reached its limit.",
  { label: "kind", values: BUDGET_KINDS }
)

export const processStart = runtime.gauge(
  "svcd_process_start_time_seconds",
  "Start time of the process, in seconds since 1970."
)

export const eventLoopDelay = runtime.histogram(
  "svcd_event_loop_delay_seconds",
  "Delay of a timer of 20 ms, in an idle process of up to 1.3 s: how long other work blocked the event loop.",
  [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5]
)

export const METRICS: Table = [
  chain.table,
  names.table,
  ALERT_METRICS,
  LIGHT_METRICS,
  WEBHOOK_METRICS,
  DNS_METRICS,
  ELECTRUM_METRICS,
  network.table,
  mempool.table,
  validation.table,
  database.table,
  rpc.table,
  breakdown.table,
  STORAGE_METRICS,
  runtime.table
].flat()
