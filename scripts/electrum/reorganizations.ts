import { isDeepStrictEqual } from "node:util"
import type { Address } from "../../src/base/addresses.ts"
import { displayHash, fromHex } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import type { Random } from "../crash/random.ts"
import { listOf, pause, recordOf, type RpcClient } from "../crash/rpc.ts"
import { mineBlock, replaceBlocks } from "./branches.ts"
import { type Call, GENERAL, type ServedChain } from "./calls.ts"
import { chainQuestions, COMPARED, type Compared, comparison, headerQuestions, together } from "./comparison.ts"
import { Follower } from "./Follower.ts"
import { readServedChain } from "./servedChain.ts"
import { Client, type Difference } from "./ServedPair.ts"
import { type Traffic, walletTraffic } from "./traffic.ts"

/** Compares two servers while the chain is reorganized again and again. */

export interface ReorganizationOptions {
  readonly servers: readonly [Address, Address]
  /** Of the node that both servers follow, or that the nodes behind them follow. */
  readonly rpc: RpcClient
  /** Whether its wallet sends payments and operations on names between. */
  readonly traffic: boolean
  readonly random: Random
  /** From 1 block on to so many. */
  readonly depths: number
  readonly wallets: boolean
  /** Of the protocol; `COMPARED` if it is missing. */
  readonly versions?: ReadonlyArray<string>
  /** Milliseconds in which both servers must have told a change. */
  readonly patience?: number
}

const PATIENCE = 20_000
const BETWEEN_LOOKS = 200

/** The version whose notifications are heard. */
const FOLLOWED_WITH = "1.4.3"

const HEADERS = 20

/** Servers make it anew every half minute. */
const KEPT_A_WHILE = "mempool.get_fee_histogram"

/** Without ranges of headers as a list or with a checkpoint: about these, servers differ on any chain. */
const isCompared = ([method, params]: Call, version: string): boolean =>
  method !== KEPT_A_WHILE &&
  !(method === "blockchain.block.headers" && (version === "1.6" || listOf(params).length > 2))

/** Blocks below the branches that are compared as well. */
const BELOW = 2

const hashOfHeader = (header: unknown): string => {
  const bytes = fromHex(String(recordOf(header)["hex"]))
  return bytes === undefined ? "" : displayHash(hash256(bytes.subarray(0, 80)))
}

const union = <A>(one: ReadonlyArray<A>, other: ReadonlyArray<A>): ReadonlyArray<A> => [
  ...new Map([...one, ...other].map((each) => [JSON.stringify(each), each])).values()
]

const everythingOf = (before: ServedChain, after: ServedChain): ServedChain => ({
  tip: after.tip,
  transactions: union(before.transactions, after.transactions),
  names: union(before.names, after.names),
  scripts: union(before.scripts, after.scripts)
})

const differenceOf = (what: object, answers: ReadonlyArray<unknown>): Difference => ({
  sent: JSON.stringify(what),
  answers: [JSON.stringify(answers[0]) ?? "", JSON.stringify(answers[1]) ?? ""]
})

/** Looks until it is so. Returns whether it came in time. */
const comesTrue = async (patience: number, isSo: () => boolean | Promise<boolean>): Promise<boolean> => {
  const end = performance.now() + patience
  while (!await isSo()) {
    if (performance.now() > end) return false
    await pause(BETWEEN_LOOKS)
  }
  return true
}

/** Both servers, with subscriptions that last. */
class FollowedServers {
  readonly #options: ReorganizationOptions
  readonly #followers: readonly [Follower, Follower]
  readonly #patience: number
  /** Script hashes whose histories differ: both servers are not waited for again. */
  readonly #different = new Set<string>()

  constructor(options: ReorganizationOptions) {
    const [one, other] = options.servers
    this.#options = options
    this.#followers = [new Follower(one, FOLLOWED_WITH), new Follower(other, FOLLOWED_WITH)]
    this.#patience = options.patience ?? PATIENCE
  }

  async begin(): Promise<void> {
    for (const follower of this.#followers) await follower.begin()
  }

  async close(): Promise<void> {
    for (const follower of this.#followers) await follower.close()
  }

  async follow({ names, scripts }: ServedChain): Promise<void> {
    for (const follower of this.#followers) {
      for (const hash of [...names, ...scripts]) await follower.follow(hash)
    }
  }

  /** Waits until both have told the tip. */
  async heardTip(tip: string): Promise<ReadonlyArray<Difference>> {
    const told = () => this.#followers.map((follower) => follower.tip)
    const areThere = await comesTrue(this.#patience, () => {
      const [one, other] = told()
      return hashOfHeader(one) === tip && isDeepStrictEqual(one, other)
    })
    return areThere ? [] : [differenceOf({ method: "told headers", tip }, told())]
  }

  /** Waits until both have what waits in the mempool of the node. */
  async heardPool(): Promise<ReadonlyArray<Difference>> {
    const { rpc } = this.#options
    const missing = new Set(listOf(await rpc.call("getrawmempool")).map(String))
    await comesTrue(this.#patience, async () => {
      for (const txid of missing) {
        const found = await Promise.all(this.#followers.map((each) => each.has(txid)))
        if (found.every((isThere) => isThere)) missing.delete(txid)
      }
      return missing.size === 0
    })
    return [...missing].map((txid) => differenceOf({ method: "told transaction", params: [txid] }, []))
  }

  /** Waits until the last status that each told is that of its history, and the histories of both are the same. */
  async heardStatuses(): Promise<ReadonlyArray<Difference>> {
    let open = [...this.#followers[0].followed]
    const found = new Map<string, ReadonlyArray<{ readonly told: unknown; readonly is: unknown }>>()
    await comesTrue(this.#patience, async () => {
      const stillOpen: Array<string> = []
      for (const hash of open) {
        const both = await Promise.all(
          this.#followers.map(async (each) => ({ is: await each.status(hash), told: each.told(hash) }))
        )
        const areSame = both[0]?.is === both[1]?.is || this.#different.has(hash)
        if (areSame && both.every(({ is, told }) => is === told)) continue
        stillOpen.push(hash)
        found.set(hash, both)
      }
      open = stillOpen
      return open.length === 0
    })
    for (const hash of open) this.#different.add(hash)
    return open.map((hash) => differenceOf({ method: "told status", params: [hash] }, found.get(hash) ?? []))
  }

  /** The last blocks and the mempool. */
  async read(blocks: number): Promise<ServedChain> {
    const { rpc, servers: [one], wallets } = this.#options
    const pool = listOf(await rpc.call("getrawmempool")).map(String)
    const reader = new Client(one, FOLLOWED_WITH)
    const chain = await readServedChain(reader, { blocks, wallets, pool })
    await reader.close()
    return chain
  }
}

const questions = (chain: ServedChain, version: string, random: Random): ReadonlyArray<ReadonlyArray<Call>> =>
  [GENERAL, ...chainQuestions(chain, random), ...headerQuestions(chain, HEADERS, random)]
    .map((calls) => calls.filter((call) => isCompared(call, version)))

/** Blocks with what the wallet sent, above the mempool of the last reorganization. */
const TRAFFIC_BLOCKS = 2

/** Sends, mines, and waits until both servers have it. */
const withTraffic = async (
  followed: FollowedServers,
  { random, rpc }: ReorganizationOptions,
  traffic: Traffic
): Promise<ReadonlyArray<Difference>> => {
  await traffic.send(random)
  for (let mined = 0; mined < TRAFFIC_BLOCKS; mined++) await mineBlock(rpc, random)
  // The last ones wait in the mempool.
  await traffic.send(random)
  return followed.heardTip(String(await rpc.call("getbestblockhash")))
}

/** One reorganization: what the servers tell of it, then all that it touched, in each version of the protocol. */
const reorganizedOnce = async (
  followed: FollowedServers,
  { random, rpc, servers, versions = COMPARED }: ReorganizationOptions,
  depth: number
): Promise<Compared> => {
  const before = await followed.read(depth + BELOW)
  await followed.follow(before)
  const missed = [...await followed.heardTip(await replaceBlocks(rpc, depth, random))]
  missed.push(...await followed.heardPool())
  const after = await followed.read(depth + BELOW + 1)
  await followed.follow(after)
  missed.push(...await followed.heardStatuses())
  const compared: Array<Compared> = [{ asked: 0, differences: missed }]
  for (const version of versions) {
    compared.push(await comparison(servers, version, questions(everythingOf(before, after), version, random)))
  }
  return together(compared)
}

/** Reorganizes the chain by 1 block, by 2, and so on, and compares the servers after each. */
export const reorganizations = async (
  options: ReorganizationOptions,
  report: (depth: number, compared: Compared) => void
): Promise<Compared> => {
  const followed = new FollowedServers(options)
  const traffic = options.traffic ? walletTraffic(options.rpc) : undefined
  const all: Array<Compared> = []
  try {
    await traffic?.begin()
    await followed.begin()
    for (let depth = 1; depth <= options.depths; depth++) {
      const missed = traffic === undefined ? [] : await withTraffic(followed, options, traffic)
      const compared = together([{ asked: 0, differences: missed }, await reorganizedOnce(followed, options, depth)])
      report(depth, compared)
      all.push(compared)
    }
  } finally {
    await followed.close()
  }
  return together(all)
}
