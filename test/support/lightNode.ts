import { Chunk, Effect, Layer, Logger, type Scope, Stream } from "effect"
import { join } from "node:path"
import { isExpired } from "../../src/consensus/expiry.ts"
import { nameEffects } from "../../src/consensus/names.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import * as Light from "../../src/light/Light.ts"
import { LIGHT_PACE } from "../../src/network/sync/HeaderSync.ts"
import * as SyncManager from "../../src/network/sync/SyncManager.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION, nameScript, type NameSetting } from "../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { FakePeer, type FakePeerOptions, type ServedBlocks } from "../network/sync/fakePeers.ts"
import { eventually } from "./eventually.ts"
import { receive } from "./receive.ts"
import { ANYONE, BLOCK_VERSION, currency, input, makeCoinbase, type Outpoint, saltOf, solve, text } from "./regtest.ts"

/** A light node without connections, and peers in memory that it follows. */

export type LightService = typeof Light.Light.Service

export interface LightNodeOptions {
  readonly params?: ConsensusParams
  /** Largest age of the tip, seconds. */
  readonly maxTipAge?: number
  readonly log?: Layer.Layer<never>
  /** Whether it keeps what proofs need. */
  readonly proofs?: boolean
}

const silent = Logger.remove(Logger.defaultLogger)

export const windowFile = (directory: string): string => join(directory, "names-window.db")

export const lightLayer = (
  directory: string,
  { log = silent, maxTipAge, params = regtestParams, proofs = false }: LightNodeOptions = {}
) =>
  Light.layer({
    filename: windowFile(directory),
    pageSize: 4096,
    params,
    verifyThreads: 0,
    proofs,
    status: { offline: false, expectsPeers: true, ...(maxTipAge === undefined ? {} : { maxTipAge }) }
  }).pipe(Layer.provide(DataHealth.layer), Layer.provide(log))

/** Runs a test on a light node in a directory. */
export const onLight = <A, E>(
  directory: string,
  use: (light: LightService) => Effect.Effect<A, E, Scope.Scope>,
  options?: LightNodeOptions
) => Effect.scoped(Effect.flatMap(Light.Light, use)).pipe(Effect.provide(lightLayer(directory, options)))

/** Follows the chain of peers. Returns the functions that connect one, and announce blocks of one. */
export const following = (light: LightService) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const sync = yield* SyncManager.makeOver({
      chain: light.chain,
      sink: light.sink,
      span: light.span,
      comparing: light.comparing,
      pace: LIGHT_PACE,
      status: { ...light.status, initialDownload: Effect.succeed(true) },
      mempool: { entries: () => [] }
    })
    const connect = (served: ServedBlocks, options?: FakePeerOptions) =>
      Effect.gen(function*() {
        const peer = new FakePeer(served, options)
        yield* Effect.forkIn(peer.live(sync), scope)
        return peer
      })
    const announce = (peer: FakePeer, headers: ReadonlyArray<Block>) =>
      receive(sync, peer, { type: "headers", headers })
    return { connect, announce }
  })

/** Waits until all names up to a block are known, with their signatures. */
export const until = (light: LightService, height: number) =>
  eventually(`names up to block ${height}`, () => {
    const { phase, tip, unchecked } = Effect.runSync(light.progress)
    return phase === "ready" && tip.height === height && unchecked === 0
  })

/** The longest virtual time until what a test waits for, in milliseconds. */
const LONGEST = 600_000

/** Waits in virtual time, looking each `step` milliseconds. Returns how long, in milliseconds. */
export const passUntil = (what: string, holds: () => boolean, step = 250): Effect.Effect<number> =>
  Effect.gen(function*() {
    for (let passed = 0; passed < LONGEST; passed += step) {
      if (holds()) return passed
      yield* Effect.sleep(step)
    }
    return yield* Effect.dieMessage(`${what}: not within ${LONGEST} ms`)
  })

/** The names that live at the tip of a light node, with their values in hex. */
export const names = (light: LightService) =>
  Effect.gen(function*() {
    const { tip } = yield* light.progress
    const all = yield* Stream.runCollect(light.scan(EMPTY))
    return new Map(
      Chunk.toReadonlyArray(all).filter(({ record }) => !isExpired(record, tip.height, light.params))
        .map(({ record }) => [toHex(record.name), toHex(record.value)])
    )
  })

/** The names that live at the end of some blocks, from genesis on, with their values in hex. */
export const namesOf = (blocks: ReadonlyArray<Block>, params = regtestParams): ReadonlyMap<string, string> => {
  const found = new Map<string, { readonly value: string; readonly height: number }>()
  for (const [height, block] of blocks.entries()) {
    for (const { name, operation } of nameEffects(block, height, params)) {
      found.set(toHex(name), { value: toHex(operation.value), height })
    }
  }
  const tip = blocks.length - 1
  return new Map(
    [...found].filter(([, entry]) => !isExpired(entry, tip, params)).map(([name, { value }]) => [name, value])
  )
}

export interface NextBlock {
  readonly transactions?: ReadonlyArray<Transaction>
  /** Makes the blocks of branches different. */
  readonly branch?: number
  /** Seconds since 1970; ten minutes after the last block by default. */
  readonly time?: number
}

/** A block after some blocks, with work, that light clients and header rules accept: its coins are not checked. */
export const nextBlock = (
  blocks: ReadonlyArray<Block>,
  { branch = 0, time, transactions = [] }: NextBlock = {}
): Block => {
  const last = blocks.at(-1)
  if (last === undefined) throw new Error("a chain has a genesis block")
  const coinbase = makeCoinbase(blocks.length, [{ value: 1, script: ANYONE }], { extra: Uint8Array.of(1, branch) })
  const all = [coinbase, ...transactions]
  const header = solve({
    version: BLOCK_VERSION,
    prevHash: last.hash,
    merkleRoot: merkleRoot(all.map(({ txid }) => txid)).root,
    time: time ?? last.header.time + 600,
    bits: last.header.bits
  })
  return makeBlock({ header, auxpow: undefined }, all)
}

/** Blocks without names after some blocks; the result begins with these. */
export const grown = (blocks: ReadonlyArray<Block>, count: number, branch = 0): ReadonlyArray<Block> => {
  const all = [...blocks]
  for (let i = 0; i < count; i++) all.push(nextBlock(all, { branch }))
  return all
}

/** A coin from outside of the chain: a light node has no coins and does not miss it. */
const FOREIGN: Outpoint = { transaction: currency([], [{ value: 1, script: ANYONE }]), vout: 0 }

/** A transaction that sets a name; its output 0 is the name's coin, for anyone by default. */
export const setName = (
  operation: NameSetting,
  { owner = ANYONE, spent = FOREIGN }: { readonly spent?: Outpoint; readonly owner?: Bytes } = {}
): Transaction => {
  const output = { value: 1_000_000, script: nameScript(operation, owner) }
  return currency([input(spent)], [output], { version: NAME_TX_VERSION })
}

/** A registration of a name without its commitment. */
export const registered = (name: string, value: string, owner?: Bytes): Transaction =>
  setName({ op: "name_firstupdate", name: text(name), rand: saltOf(3), value: text(value) }, { owner: owner ?? ANYONE })

/** An update of a name that spends its coin. */
export const updated = (name: string, value: string, spent: Transaction): Transaction =>
  setName({ op: "name_update", name: text(name), value: text(value) }, { spent: { transaction: spent, vout: 0 } })
