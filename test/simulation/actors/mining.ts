import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainSink } from "../../../src/chain/ChainSink.ts"
import { meetsTarget } from "../../../src/consensus/difficulty.ts"
import { templateHeader } from "../../../src/mempool/mining/blockTemplate.ts"
import { Miner } from "../../../src/mempool/mining/Miner.ts"
import { mineParent, minimalAuxpow, parentCoinbase } from "../../../src/mempool/mining/minimalAuxpow.ts"
import { makeBlock } from "../../../src/protocol/block.ts"
import { type Bytes, displayHash } from "../../../src/protocol/bytes.ts"
import { type Header, makeHeader } from "../../../src/protocol/header.ts"
import { Op } from "../../../src/protocol/script.ts"
import { Wallets } from "../../../src/wallet/Wallets.ts"
import type { World } from "../World.ts"

/** Blocks, as the miners of a node make them: each way that svcd offers, with work that is free on regtest. */

/** `generate`: the node's own merged mining; `template` and `aux`: a pool that takes its work, and returns it later. */
export type MiningWay = "aux" | "generate" | "template"

/** Anyone can spend it. */
const ANYONE = Uint8Array.of(Op.OP_1)

/** Tries enough for any target of regtest. */
const TRIES = 1_000

/** Where the rewards of a node go: to its wallet if it has one. */
const rewardScript = Effect.gen(function*() {
  const wallet = (yield* Wallets).get("")
  if (wallet === undefined || !wallet.keys.hasPrivateKeys) return ANYONE
  const { rules: { addressType: type } } = wallet
  return (yield* wallet.keys.newAddress({ type, label: "mined" })).script
})

/** The header with the first nonce that has its work. */
const solved = (header: Header, powLimit: bigint): Header => {
  const { bits, merkleRoot, prevHash, time, version } = header
  for (let nonce = 0; nonce < TRIES; nonce++) {
    const next = makeHeader({ bits, merkleRoot, prevHash, time, version, nonce })
    if (meetsTarget(next.hash, bits, powLimit)) return next
  }
  throw new Error("no nonce has work for regtest")
}

interface Mining {
  readonly script: Bytes
  /** Milliseconds between the work and its result. */
  readonly delay: number
}

const fromTemplate = ({ delay }: Mining) =>
  Effect.gen(function*() {
    const { params } = yield* Chain
    const { template } = yield* (yield* Miner).template
    yield* Effect.sleep(delay)
    const header = solved(templateHeader(template, false), params.powLimit)
    yield* (yield* ChainSink).submit(makeBlock({ header, auxpow: undefined }, template.transactions))
    return header.hash
  })

const fromCandidate = ({ delay, script }: Mining) =>
  Effect.gen(function*() {
    const { params: { powLimit } } = yield* Chain
    const miner = yield* Miner
    const { header: { bits, hash } } = yield* miner.auxCandidate(script)
    yield* Effect.sleep(delay)
    const coinbase = parentCoinbase(hash)
    const parent = mineParent({ coinbase, bits, powLimit }, { first: 0, count: TRIES })
    if (parent === undefined) return yield* Effect.dieMessage("no nonce has work for regtest")
    yield* miner.submitAux(hash, minimalAuxpow(coinbase, parent))
    return hash
  })

const generated = ({ delay, script }: Mining) =>
  Effect.gen(function*() {
    yield* Effect.sleep(delay)
    const [hash] = yield* (yield* Miner).generate(1, script, TRIES)
    return hash
  })

const WAYS = { aux: fromCandidate, generate: generated, template: fromTemplate } as const

/** Mines a block at a node, and notes it. It may be stale by then. */
export const mineAt = (
  world: World,
  name: string,
  { delay, way }: { readonly way: MiningWay; readonly delay: number }
) =>
  world.node(name).run(Effect.gen(function*() {
    const chain = yield* Chain
    const hash = yield* WAYS[way]({ script: yield* rewardScript, delay })
    if (hash === undefined) return
    const { height } = yield* chain.header(hash)
    world.note("mined", { node: name, hash: displayHash(hash), height, way })
  }))
