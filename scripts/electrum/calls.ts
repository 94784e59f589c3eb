import { isHex } from "../../src/protocol/bytes.ts"
import type { Random } from "../crash/random.ts"

/** Calls of all methods about what a chain has, and about what it has not. */

export type Call = readonly [method: string, params: unknown]

export interface PlacedTransaction {
  readonly height: number
  readonly position: number
  readonly txid: string
}

/** What the calls are about. Hashes are as clients write them. */
export interface ServedChain {
  readonly tip: number
  readonly transactions: ReadonlyArray<PlacedTransaction>
  readonly names: ReadonlyArray<string>
  /** Of the address scripts of all outputs. Empty for servers that answer for names alone. */
  readonly scripts: ReadonlyArray<string>
}

const bytesOf = (random: Random, length: number): string =>
  Array.from({ length }, () => random.below(256).toString(16).padStart(2, "0")).join("")

const SCRIPT_METHODS = ["get_history", "subscribe", "get_mempool", "get_balance"]

/** All that a client can ask about a script hash. */
export const scriptCalls = (hash: string): ReadonlyArray<Call> => [
  ...SCRIPT_METHODS.map((method): Call => [`blockchain.scripthash.${method}`, [hash]]),
  ["blockchain.scripthash.unsubscribe", [hash]],
  ["blockchain.scripthash.unsubscribe", [hash]]
]

/** The coins of a script hash: the servers differ about those of names. */
export const coinCalls = (hash: string): ReadonlyArray<Call> => [["blockchain.scripthash.listunspent", [hash]]]

export const nameCalls = (hash: string, { tip }: ServedChain, random: Random): ReadonlyArray<Call> => [
  ["blockchain.name.get_value_proof", [hash]],
  ["blockchain.name.get_value_proof", [hash, random.below(tip + 3)]],
  ...scriptCalls(hash)
]

export const transactionCalls = ({ height, position, txid }: PlacedTransaction): ReadonlyArray<Call> => [
  ["blockchain.transaction.get", [txid]],
  ["blockchain.transaction.get", [txid, true]],
  ["blockchain.transaction.get_merkle", [txid, height]],
  ["blockchain.transaction.get_merkle", [txid, height + 1]],
  ["blockchain.transaction.id_from_pos", [height, position]],
  ["blockchain.transaction.id_from_pos", [height, position, true]]
]

export const headerCalls = ({ tip }: ServedChain, random: Random): ReadonlyArray<Call> => {
  const place = (): number => random.below(tip + 4)
  const [low, high] = [place(), place()].toSorted((a, b) => a - b)
  return [
    ["blockchain.block.header", [place()]],
    ["blockchain.block.header", [low, high]],
    ["blockchain.block.header", [place(), place()]],
    ["blockchain.block.headers", [place(), random.below(50)]],
    ["blockchain.block.headers", [low, random.below(50), high]],
    ["blockchain.block.headers", [place(), random.below(50), place()]]
  ]
}

/** About the server and its pool, without what servers say of themselves. */
export const GENERAL: ReadonlyArray<Call> = [
  ["blockchain.headers.subscribe", []],
  ["blockchain.estimatefee", [6]],
  ["blockchain.estimatefee", [6, "economical"]],
  ["blockchain.estimatefee", [6, "x"]],
  ["blockchain.relayfee", []],
  ["mempool.get_fee_histogram", []],
  ["mempool.get_info", []],
  ["server.ping", []],
  ["server.donation_address", []],
  ["server.peers.subscribe", []],
  ["server.version", ["client", "1.4"]],
  ["blockchain.transaction.broadcast", ["00"]],
  ["blockchain.transaction.broadcast", ["zz"]],
  ["blockchain.transaction.broadcast_package", [["00"]]],
  ["no.such.method", []],
  ["", []]
]

const METHODS = [
  "blockchain.block.header",
  "blockchain.block.headers",
  "blockchain.estimatefee",
  "blockchain.headers.subscribe",
  "blockchain.name.get_value_proof",
  "blockchain.relayfee",
  "blockchain.scripthash.get_balance",
  "blockchain.scripthash.get_history",
  "blockchain.scripthash.get_mempool",
  "blockchain.scripthash.listunspent",
  "blockchain.scripthash.subscribe",
  "blockchain.scripthash.unsubscribe",
  "blockchain.transaction.broadcast",
  "blockchain.transaction.broadcast_package",
  "blockchain.transaction.get",
  "blockchain.transaction.get_merkle",
  "blockchain.transaction.id_from_pos",
  "mempool.get_fee_histogram",
  "mempool.get_info",
  "server.donation_address",
  "server.peers.subscribe",
  "server.ping"
]

const NAMES = ["height", "cp_height", "scripthash", "tx_hash", "verbose", "merkle", "number", "raw_tx", "count", "x"]

/** A method with arguments that fit or not. */
export const strangeCall = ({ tip, transactions }: ServedChain, random: Random): Call => {
  const values = [
    () => random.below(tip + 4),
    () => -1 - random.below(3),
    () => random.pick(transactions).txid,
    () => bytesOf(random, random.pick([20, 31, 32, 33])),
    () => bytesOf(random, 32).toUpperCase(),
    () => random.pick(["", "x", "5", "true", "0x10", "zz", "é", "a'b", "\n"]),
    () => random.pick([null, true, false]),
    () => random.pick([1.5, 2 ** 40, 1e21]),
    () => random.pick([[], {}, ["00"], [1, "a"], { a: null }])
  ]
  const given = Array.from({ length: random.below(4) }, () => random.pick(values)())
  const isNamed = random.chance(0.2)
  return [random.pick(METHODS), isNamed ? Object.fromEntries(given.map((each) => [random.pick(NAMES), each])) : given]
}

/** A script hash that nobody has. */
export const unknownHash = (random: Random): string => bytesOf(random, 32)

/** Messages of unusual forms, most of which call nothing. */
export const STRANGE_MESSAGES: ReadonlyArray<string> = [
  "{}",
  "[]",
  "1",
  "null",
  "\"a\"",
  "{\"method\":\"server.ping\"}",
  "{\"id\":1}",
  "{\"id\":1,\"method\":null}",
  "{\"id\":1,\"method\":5}",
  "{\"id\":null,\"method\":\"server.ping\"}",
  "{\"id\":\"text\",\"method\":\"server.ping\"}",
  "{\"id\":1.5,\"method\":\"server.ping\"}",
  "{\"id\":[1],\"method\":\"server.ping\"}",
  "{\"id\":true,\"method\":\"server.ping\"}",
  "{\"id\":1,\"method\":\"server.ping\",\"params\":null}",
  "{\"id\":1,\"method\":\"server.ping\",\"params\":{}}",
  "{\"id\":1,\"method\":\"server.ping\",\"params\":\"x\"}",
  "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"server.ping\"}",
  "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"none\"}",
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\"}",
  "{\"jsonrpc\":\"3.0\",\"id\":1,\"method\":\"server.ping\"}",
  "{\"jsonrpc\":2,\"id\":1,\"method\":\"server.ping\"}",
  "[{\"id\":1,\"method\":\"server.ping\"},{\"id\":2,\"method\":\"none\"}]",
  "[{\"id\":1,\"method\":\"server.ping\"},5,{\"id\":2}]",
  "[[]]",
  "{\"id\":1,\"method\":\"server.ping\"",
  "nothing"
]

/** What a client may send as its version. */
export const VERSIONS: ReadonlyArray<unknown> = [
  "1.4",
  "1.4.1",
  "1.4.2",
  "1.4.3",
  "1.6",
  "1.7",
  "1.3",
  "1.4.0",
  "1.04",
  "2",
  "",
  "x",
  "1.x",
  ["1.4", "1.6"],
  ["1.4", "1.4.2"],
  ["1.2", "1.4"],
  ["1.6", "1.4"],
  ["1.7", "2.0"],
  ["1.4"],
  ["1.4", "1.5", "1.6"],
  ["1.4.1", "1.4.3"],
  null,
  5,
  {}
]

export const isHash = (value: unknown): value is string =>
  typeof value === "string" && value.length === 64 && isHex(value)
