import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { COIN } from "../../src/protocol/amount.ts"
import { nameField } from "../../src/protocol/nameText.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { outpointKey } from "../../src/protocol/transaction.ts"
import { NO_PROVIDER } from "../../src/wallet/signing/SigningProvider.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import { type LiveNode, withWallets } from "../support/liveWallets.ts"
import { ADDRESS } from "../support/mempool.ts"
import { text } from "../support/regtest.ts"
import {
  allSettled,
  asOffered,
  branchAbove,
  fourWallets,
  isNamed,
  minable,
  NAMED,
  removeIndexes,
  type Shown,
  shownByAll,
  wrongStates
} from "./historyNode.ts"

/** Histories per run; more for a long search. */
const RUNS = Number(process.env["WALLET_HISTORIES"] ?? 5)

const LENGTH = 30

const KINDS = [
  "pay",
  "pay",
  "raise",
  "rival",
  "rival",
  "abandon",
  "register",
  "register",
  "update",
  "block",
  "block",
  "block",
  "block",
  "contest",
  "contest",
  "twelve blocks",
  "reorg",
  "reorg",
  "reload",
  "restart",
  "rebuild"
] as const

interface Step {
  readonly kind: typeof KINDS[number]
  readonly a: number
  readonly b: number
}

const steps = FastCheck.array(
  FastCheck.record({
    kind: FastCheck.constantFrom(...KINDS),
    a: FastCheck.nat(0xffff),
    b: FastCheck.nat(0xffff)
  }),
  { minLength: LENGTH / 2, maxLength: LENGTH }
)

/** A history: how many wallets, in which order they are loaded, and what happens. */
const histories = FastCheck.record({
  wallets: FastCheck.integer({ min: 1, max: 4 }),
  defaultLast: FastCheck.boolean(),
  steps
})

interface World {
  /** Every transaction that was made, sent or not. */
  readonly known: Map<string, Transaction>
  /** Height of the directory's chain; 0 before the first start. */
  base: number
  /** How often each kind of step was done: what wallets refuse is not a step. */
  readonly done: Map<Step["kind"], number>
}

const at = <A>(all: ReadonlyArray<A>, index: number): A | undefined => all[index % Math.max(1, all.length)]

/** A scrambled bit of a number and a transaction. */
const coinFlip = (seed: number, { txid }: Transaction): boolean => ((txid[seed % 32] ?? 0) >> (seed % 7)) % 2 === 1

/** Connects a block with a choice of all that is known: not only what the mempool has. */
const block = ({ base, known }: World, node: LiveNode, { a, b }: Step) =>
  Effect.gen(function*() {
    for (const { transaction } of node.pool.entries()) known.set(transaction.txidKey, transaction)
    const all = [...known.values()].sort((x, y) => (x.txid[b % 32] ?? 0) - (y.txid[b % 32] ?? 0))
    const isReady = (tx: Transaction): boolean => !isNamed(tx) || node.pool.get(tx.txidKey) !== undefined
    const chosen = minable(all, yield* branchAbove(node, base), (tx) => isReady(tx) && coinFlip(a, tx))
    const plain = chosen.filter((tx) => !isNamed(tx))
    const own = a % 4 === 0
      ? yield* (at(node.wallets.loaded(), b) ?? node.wallet).keys.newAddress({ type: "legacy", label: "" })
      : undefined
    const to = own === undefined ? {} : { script: own.script }
    // A name operation that the pool has may be too young for the block, and others may spend its outputs.
    yield* node.mine(1, { ...to, transactions: chosen }).pipe(
      Effect.catchAllCause(() =>
        node.mine(1, { ...to, transactions: minable(plain, { blocks: new Map(), spent: new Map() }, () => true) })
      ),
      Effect.catchAllCause(() => node.mine(1, to))
    )
  })

const reload = (node: LiveNode, name: string) =>
  Effect.zipRight(node.wallets.unload(name, undefined), node.wallets.load(name, undefined))

/** Pays with a coin of an unconfirmed transaction, and sends nothing. */
const makeRival = (
  { known }: World,
  wallet: Wallet,
  { addInputs, prevout, value }: { readonly prevout: Uint8Array; readonly value: number; readonly addInputs: boolean }
) =>
  Effect.gen(function*() {
    const request = { outputs: [{ script: ADDRESS, value }], inputs: [{ outpoint: outpointKey(prevout) }], addInputs }
    const external = { known: NO_PROVIDER, weights: new Map() }
    const { transaction } = yield* wallet.payments.fund({ ...request, external })
    known.set(transaction.txidKey, transaction)
    return transaction
  })

const unconfirmedIn = (wallet: Wallet): ReadonlyArray<Transaction> =>
  wallet.ledger.transactions().flatMap(({ state, transaction }) => state.type === "confirmed" ? [] : [transaction])

/** Blocks in a row that each spend another input of an unconfirmed transaction, and perhaps a reorg of the last one. */
const contest = (world: World, node: LiveNode, { a, b }: Step) =>
  Effect.gen(function*() {
    const all = node.wallets.loaded().flatMap((wallet) => unconfirmedIn(wallet).map((tx) => ({ tx, wallet })))
    const chosen = at(
      all.filter(({ tx, wallet }) =>
        tx.inputs.length > 1 && !isNamed(tx) &&
        wallet.ledger.transaction(tx.txidKey)?.spent.includes(undefined) === false
      ),
      a
    )
    if (chosen === undefined) return
    for (const [index, { prevout }] of chosen.tx.inputs.slice(0, 3).entries()) {
      const rival = yield* makeRival(world, chosen.wallet, { prevout, value: COIN / 100 + b + index, addInputs: false })
      const branch = yield* branchAbove(node, world.base)
      yield* node.mine(1, { transactions: minable([rival], branch, () => true) })
      yield* allSettled(node)
    }
    if (b % 4 === 0) return
    const { hash } = yield* node.chain.tip
    yield* node.chain.control.invalidate(hash)
  })

/** One step that leaves the node running. What the wallets refuse is not a step. */
const act = (world: World, node: LiveNode, step: Step) =>
  Effect.gen(function*() {
    const { a, b, kind } = step
    const wallet = at(node.wallets.loaded(), a) ?? node.wallet
    const other = at(unconfirmedIn(wallet), b)
    const some = other?.txidKey
    switch (kind) {
      case "pay": {
        const payee = at(node.wallets.loaded(), b)
        const script = b % 5 === 0 || payee === undefined
          ? ADDRESS
          : (yield* payee.keys.newAddress({ type: "legacy", label: "" })).script
        yield* wallet.payments.pay({ outputs: [{ script, value: COIN / 10 + (a * b) % (4 * COIN) }] })
        return
      }
      case "raise":
        return some === undefined ? undefined : void (yield* wallet.payments.bump(some, {}))
      case "rival": {
        const input = at(other?.inputs ?? [], a)
        const choice = { value: 1000 + b, addInputs: a % 3 === 0 }
        return input === undefined
          ? undefined
          : void (yield* makeRival(world, wallet, { ...choice, prevout: input.prevout }))
      }
      case "contest":
        return yield* contest(world, node, step)
      case "abandon":
        return some === undefined ? undefined : yield* wallet.payments.abandon(some)
      case "register":
        return void (yield* wallet.names.register(text(`d/${b % 4}`), text(`${a}`), {}))
      case "update": {
        const name = at(wallet.names.list().filter(({ mine }) => mine), b)
        return name === undefined
          ? undefined
          : void (yield* wallet.names.nameUpdate({ name: name.name, value: b % 2 === 0 ? undefined : text(`${b}`) }))
      }
      case "block":
        return yield* block(world, node, step)
      case "twelve blocks":
        yield* block(world, node, step)
        for (let i = 0; i < 11; i++) {
          yield* node.mine(1)
          yield* allSettled(node)
        }
        return
      case "reorg": {
        const { height } = yield* node.chain.tip
        const header = yield* node.chain.headerAt(Math.max(world.base + 1, height - (a % 4)))
        if (header === undefined) return
        yield* node.chain.control.invalidate(header.hash)
        for (let i = 0; i < 1 + b % 5; i++) yield* block(world, node, { kind, a: a + 7 * i, b: b + i })
        return
      }
      default:
        return yield* reload(node, wallet.name)
    }
  }).pipe(
    Effect.zipRight(Effect.sync(() => void world.done.set(step.kind, (world.done.get(step.kind) ?? 0) + 1))),
    Effect.catchAll(() => Effect.void)
  )

const assertSame = (before: ReadonlyMap<string, Shown>, now: ReadonlyMap<string, Shown>, what: string): void => {
  assert.deepStrictEqual([...now.keys()].sort(), [...before.keys()].sort())
  for (const [name, shown] of now) {
    const was = before.get(name) ?? assert.fail(name)
    assert.deepStrictEqual(shown, asOffered(was, shown), `${what}: wallet "${name}"`)
  }
}

interface Ended {
  readonly rest: ReadonlyArray<Step>
  /** What the wallets showed at the end. */
  readonly shown: ReadonlyMap<string, Shown>
  readonly how: "restart" | "rebuild"
}

/** Runs the steps up to a restart. */
const run = (world: World, node: LiveNode, steps: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    if (world.base === 0) world.base = (yield* node.chain.tip).height
    for (const [index, step] of steps.entries()) {
      const before = yield* shownByAll(node)
      if (step.kind === "restart" || step.kind === "rebuild") {
        const ended: Ended = { rest: steps.slice(index + 1), shown: before, how: step.kind }
        return ended
      }
      yield* act(world, node, step)
      yield* allSettled(node)
      const wrong = yield* wrongStates(node, world.base)
      if (wrong.length > 0) return assert.fail(`after ${step.kind}: ${wrong.join(", ")}`)
      if (step.kind === "reload") assertSame(before, yield* shownByAll(node), "reload")
    }
    const ended: Ended = { rest: [], shown: yield* shownByAll(node), how: "restart" }
    return ended
  })

/** All registrations end, now that each block has what the mempool has. */
const finish = (node: LiveNode) =>
  Effect.gen(function*() {
    const open = () =>
      node.wallets.loaded().flatMap(({ name, names }) =>
        names.registrations().filter(({ step }) => step !== "done" && step !== "failed").map((each) => ({
          ...each,
          wallet: name
        }))
      )
    for (let i = 0; i < 45 && open().length > 0; i++) {
      yield* Effect.catchAllCause(node.minePool, () => node.mine(1))
      yield* allSettled(node)
    }
    const waiting = open().map(({ name, note, step, wallet }) =>
      `${nameField(name)} of "${wallet}" is ${step}: ${note}`
    )
    if (waiting.length > 0) return assert.fail(waiting.join(", "))
  })

/** Runs a history. Each restart is another node on the same files. */
const play = (history: typeof histories extends FastCheck.Arbitrary<infer A> ? A : never, done: World["done"]) =>
  Effect.gen(function*() {
    const directory = yield* fourWallets
    const world: World = { base: 0, known: new Map(), done }
    let rest: ReadonlyArray<Step> = history.steps
    let before: ReadonlyMap<string, Shown> | undefined
    for (let how = "start", first = true; first || rest.length > 0; first = false) {
      const ended: Ended = yield* withWallets(directory, (node) =>
        Effect.gen(function*() {
          if (first) yield* Effect.forEach(NAMED.slice(history.wallets - 1), (name) => node.wallets.unload(name, false))
          if (history.defaultLast) yield* reload(node, "")
          yield* allSettled(node)
          if (before !== undefined) assertSame(before, yield* shownByAll(node), how)
          const ended = yield* run(world, node, rest)
          if (ended.rest.length === 0) yield* finish(node)
          return ended
        }), { keepPool: true })
      if (ended.how === "rebuild") removeIndexes(directory)
      rest = ended.rest
      before = ended.shown
      how = ended.how
    }
  }).pipe(Effect.scoped)

describe("a random history of wallets", () => {
  it(
    `has states that blocks and mempool justify, which no restart changes, over ${RUNS} histories`,
    async () => {
      const done: World["done"] = new Map()
      await FastCheck.assert(
        FastCheck.asyncProperty(histories, (history) => Effect.runPromise(play(history, done))),
        { numRuns: RUNS, endOnFailure: true }
      )
      for (const kind of ["pay", "block"] as const) assert.isAtLeast(done.get(kind) ?? 0, RUNS, `${kind}: ${[...done]}`)
    },
    120_000 * RUNS
  )
})
