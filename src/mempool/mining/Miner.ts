import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { unixTime } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { attempt } from "../../chain/attempt.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import type { HeaderPoint } from "../../consensus/difficulty.ts"
import type { Auxpow } from "../../protocol/auxpow.ts"
import { type Block, makeBlock } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { Op } from "../../protocol/script.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { Mempool } from "../Mempool.ts"
import { type AuxCandidate, AuxCandidates } from "./AuxCandidates.ts"
import {
  assembleBlock,
  blockOfTransactions,
  type BlockTemplate,
  type NextBlock,
  type Outline,
  outlineNext,
  type PoolSource,
  templateHeader,
  unminedBlock
} from "./blockTemplate.ts"
import { CandidateUnknown, MinedBlockRefused, NoWorkFound, TemplateInvalid } from "./errors.ts"
import { mineParent, minimalAuxpow, parentCoinbase } from "./minimalAuxpow.ts"
import { BLOCK_LIMITS, type BlockLimits } from "./selectChunks.ts"

/** A template that is reused until the tip changes, or the pool has changed and some time has passed. */
export interface ServedTemplate {
  readonly template: BlockTemplate
  readonly changes: number
}

/** Nonces tried by default (upstream `DEFAULT_MAX_TRIES`). */
export const DEFAULT_MAX_TRIES = 1_000_000

export type AssemblyFailure = TemplateInvalid | StorageFailure

/** Makes blocks on top of the tip: for external miners, and by itself if a few tries are enough. */
export class Miner extends Context.Tag("svcd/Miner")<Miner, {
  /** Height, time and target of a block made now. */
  readonly outline: Effect.Effect<Outline>
  /** A block of the pool's transactions, whose coinbase the caller replaces. */
  readonly template: Effect.Effect<ServedTemplate, AssemblyFailure>
  /**
   * Mines a chain of blocks with merged-mining proofs, and returns their hashes in wire order: fewer if `maxTries`
   * nonces run out.
   */
  readonly generate: (
    count: number,
    scriptPubKey: Bytes,
    maxTries: number
  ) => Effect.Effect<ReadonlyArray<Bytes>, AssemblyFailure | MinedBlockRefused>
  /** Mines a block of exactly these transactions, without their fees. Submits it only with `submit`. */
  readonly generateWith: (
    scriptPubKey: Bytes,
    transactions: ReadonlyArray<Transaction>,
    submit: boolean
  ) => Effect.Effect<Block, AssemblyFailure | NoWorkFound | MinedBlockRefused>
  /** A block for merged mining. Reused until the tip changes, or the pool has changed and a minute has passed. */
  readonly auxCandidate: (scriptPubKey: Bytes) => Effect.Effect<AuxCandidate, AssemblyFailure>
  /** The candidate with a hash in wire order. All of one tip are kept, up to a limit. */
  readonly candidate: (hash: Bytes) => Effect.Effect<AuxCandidate, CandidateUnknown>
  /** Submits a candidate with its proof. Returns false if the chain refuses it. */
  readonly submitAux: (hash: Bytes, auxpow: Auxpow) => Effect.Effect<boolean, CandidateUnknown | StorageFailure>
  /** The last block template: weight, and number of transactions without the coinbase. */
  readonly limits: BlockLimits
  readonly last: () => { readonly weight: number; readonly transactions: number } | undefined
}>() {}

/** Nonces tried per turn of the event loop: some ten milliseconds. */
const TRIES_A_TURN = 4_096

const MAX_NONCE = 2 ** 32

/** Seconds for which a template is reused although the pool has changed. */
const FRESH_SECONDS = 5

/** The script of a template's coinbase, which miners replace as anyone could spend it. */
const ANYONE = Uint8Array.of(Op.OP_1)

/** The verdict on a block whose parent is no longer the tip. */
const STALE = "inconclusive-not-best-prevblk"

interface Mined {
  /** `undefined` if no nonce was found. */
  readonly block: Block | undefined
  /** Remaining tries. */
  readonly tries: number
}

const make = (limits: BlockLimits) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const chainCoins = yield* ChainCoins
    const sink = yield* ChainSink
    const mempool = yield* Mempool
    const { params, tree } = chain
    /** One caller at a time makes a kept template for the next ones to reuse. */
    const alone = yield* Effect.makeSemaphore(1)
    const candidates = new AuxCandidates()
    let served: (ServedTemplate & { readonly time: number }) | undefined
    let last: { readonly weight: number; readonly transactions: number } | undefined

    const ancestor = (height: number): HeaderPoint => {
      const id = tree.at(height)
      return { height, time: tree.time(id), bits: tree.bits(id) }
    }

    /** Makes a template with the transactions of `fill`, and validates it as the chain would. */
    const assemble = (
      fill: (next: NextBlock, coin: PoolSource["coin"]) => BlockTemplate
    ): Effect.Effect<BlockTemplate, AssemblyFailure> =>
      Effect.gen(function*() {
        for (;;) {
          const now = yield* unixTime
          const template = yield* chainCoins.atTip(({ coin, tip }) =>
            attempt(() => fill({ params, tip, ancestor, now }, coin))
          )
          const { entries, weight } = template.selection
          last = { weight, transactions: entries.length }
          const verdict = yield* sink.judge(unminedBlock(template))
          if (verdict === undefined) return template
          // The tip moved meanwhile, so the template is useless.
          if (verdict.reason === STALE) continue
          const { detail, reason } = verdict
          return yield* new TemplateInvalid(detail === undefined ? { reason } : { reason, detail })
        }
      }).pipe(Effect.withSpan("svcd.mempool.template"))

    const fromPool = (scriptPubKey: Bytes) =>
      assemble((next, coin) => assembleBlock(next, { coin, chunks: mempool.chunks(), scriptPubKey, limits }))

    /** Mines a template with the smallest possible merged-mining proof. */
    const mine = (template: BlockTemplate, maxTries: number): Effect.Effect<Mined> =>
      Effect.gen(function*() {
        const header = templateHeader(template, true)
        const coinbase = parentCoinbase(header.hash)
        const work = { coinbase, bits: header.bits, powLimit: params.powLimit }
        const end = Math.min(maxTries, MAX_NONCE)
        for (let nonce = 0; nonce < end; nonce += TRIES_A_TURN) {
          if (nonce > 0) yield* turnOfEventLoop
          const parent = mineParent(work, { first: nonce, count: Math.min(TRIES_A_TURN, end - nonce) })
          if (parent === undefined) continue
          const block = makeBlock({ header, auxpow: minimalAuxpow(coinbase, parent) }, template.transactions)
          return { block, tries: maxTries - parent.nonce }
        }
        return { block: undefined, tries: Math.max(0, maxTries - end) }
      })

    const offer = (block: Block): Effect.Effect<void, MinedBlockRefused | StorageFailure> =>
      Effect.flatMap(sink.submit(block), (submission) =>
        submission.type === "rejected"
          ? new MinedBlockRefused({ reason: submission.reject.reason })
          : Effect.void)

    const generate = (count: number, scriptPubKey: Bytes, maxTries: number) =>
      Effect.gen(function*() {
        const hashes: Array<Bytes> = []
        for (let tries = maxTries; hashes.length < count && tries > 0;) {
          const mined = yield* mine(yield* fromPool(scriptPubKey), tries)
          tries = mined.tries
          if (mined.block === undefined) continue
          yield* offer(mined.block)
          hashes.push(mined.block.hash)
          yield* turnOfEventLoop
        }
        return hashes
      })

    const generateWith = (scriptPubKey: Bytes, transactions: ReadonlyArray<Transaction>, submit: boolean) =>
      Effect.gen(function*() {
        const template = yield* assemble((next) => blockOfTransactions(next, transactions, scriptPubKey))
        const { block } = yield* mine(template, DEFAULT_MAX_TRIES)
        if (block === undefined) return yield* new NoWorkFound()
        if (submit) yield* offer(block)
        return block
      })

    const template = alone.withPermits(1)(Effect.gen(function*() {
      const { hash } = yield* chain.tip
      const time = yield* unixTime
      const { changes } = mempool.info()
      if (
        served !== undefined && equal(served.template.prevHash, hash) &&
        (served.changes === changes || time - served.time <= FRESH_SECONDS)
      ) return served
      served = undefined
      return served = { template: yield* fromPool(ANYONE), changes, time }
    }))

    const auxCandidate = (scriptPubKey: Bytes) =>
      alone.withPermits(1)(Effect.gen(function*() {
        const { hash } = yield* chain.tip
        const made = { time: yield* unixTime, changes: mempool.info().changes }
        const known = candidates.find(hash, scriptPubKey, made)
        if (known !== undefined) return known
        const template = yield* fromPool(scriptPubKey)
        const candidate = { template, header: templateHeader(template, true) }
        candidates.add(candidate, scriptPubKey, made)
        return candidate
      }))

    const candidate = (hash: Bytes): Effect.Effect<AuxCandidate, CandidateUnknown> =>
      Effect.suspend(() => {
        const found = candidates.get(hash)
        return found === undefined ? new CandidateUnknown() : Effect.succeed(found)
      })

    return Miner.of({
      outline: Effect.gen(function*() {
        return outlineNext({ params, tip: yield* chain.tip, ancestor, now: yield* unixTime })
      }),
      template,
      generate,
      generateWith,
      auxCandidate,
      candidate,
      submitAux: (hash, auxpow) =>
        Effect.gen(function*() {
          const { header, template } = yield* candidate(hash)
          const submission = yield* sink.submit(makeBlock({ header, auxpow }, template.transactions))
          return submission.type !== "rejected"
        }),
      last: () => last,
      limits
    })
  })

export const layer = (
  limits: BlockLimits = BLOCK_LIMITS
): Layer.Layer<Miner, never, Chain | ChainCoins | ChainSink | Mempool> => Layer.effect(Miner, make(limits))
