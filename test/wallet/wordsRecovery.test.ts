import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Redacted } from "effect"
import { copyFileSync, cpSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { COIN } from "../../src/protocol/amount.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { seededDocument } from "../../src/wallet/keys/makeDocument.ts"
import { encodeDocument } from "../../src/wallet/keys/WalletDocument.ts"
import type { AddressType } from "../../src/wallet/keys/WalletKeys.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { FEW_KEYS, fundedDirectory, type LiveNode, withWallets } from "../support/liveWallets.ts"
import { ADDRESS } from "../support/mempool.ts"
import { documentOf, to } from "./liveDocument.ts"

/** A reach that random steps get to the end of. */
const RULES = { rules: { ...FEW_KEYS, keypool: 4, reach: 4 } }

const TYPES: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

interface Step {
  readonly do:
    | "preview"
    | "pay"
    | "give"
    | "change"
    | "payLast"
    | "mine"
    | "register"
    | "restart"
    | "oldCopy"
  readonly type: AddressType
}

/** One type in a run: only many addresses of a chain in a row get to the end of the reach. */
const steps: FastCheck.Arbitrary<ReadonlyArray<Step>> = FastCheck.constantFrom(...TYPES).chain((type) => {
  const action = FastCheck.constantFrom(
    ...["give", "give", "give", "change", "change", "preview", "pay", "payLast", "mine", "register"] as const,
    ...["restart", "oldCopy"] as const
  )
  return FastCheck.array(action.map((each): Step => ({ do: each, type })), { minLength: 25, maxLength: 45 })
})

/** What an owner would miss: coins with their amounts, and names. */
const holdings = (wallet: Wallet): ReadonlyArray<string> =>
  wallet.ledger.coins().filter(({ height }) => height !== undefined)
    .map(({ output, txid, vout }) => `${toHex(txid)}:${vout} ${output.value} ${toHex(output.script)}`).sort()

let registered = 0

/** Runs steps up to a restart, with addresses that were given out before. Returns the steps that are left. */
const run = (node: LiveNode, all: ReadonlyArray<Step>, given: Array<Bytes>) =>
  Effect.gen(function*() {
    const { minePool, wallet } = node
    for (const [at, step] of all.entries()) {
      switch (step.do) {
        case "preview":
          yield* Effect.ignore(wallet.payments.fund({ ...to(ADDRESS, COIN), changeType: step.type }))
          break
        case "pay":
          yield* Effect.ignore(wallet.payments.pay({ ...to(ADDRESS, COIN / 10), changeType: step.type }))
          break
        case "give":
        case "change": {
          const { keys } = wallet
          const address = step.do === "give"
            ? keys.newAddress({ type: step.type, label: "" })
            : keys.newChangeAddress(step.type)
          // Beyond the reach none is given out.
          const own = yield* Effect.option(address)
          if (own._tag === "Some") given.push(own.value.script)
          break
        }
        case "payLast": {
          const last = given.at(-1)
          if (last !== undefined) {
            yield* Effect.ignore(wallet.payments.pay({ ...to(last, COIN / 20), changeType: step.type }))
          }
          break
        }
        case "register":
          yield* Effect.ignore(wallet.names.nameNew(new TextEncoder().encode(`d/recovered${registered++}`), {}))
          break
        case "mine":
          yield* minePool
          break
        default:
          return all.slice(at)
      }
    }
    return []
  })

/** Each way to the end of the reach, and a payment behind it. */
const toTheEnd = (type: AddressType): ReadonlyArray<Step> => {
  const times = (count: number, step: Step["do"]): ReadonlyArray<Step> =>
    Array.from({ length: count }, () => ({ do: step, type }))
  return [
    ...[times(9, "give"), times(1, "payLast"), times(1, "mine")].flat(),
    ...[times(9, "preview"), times(1, "pay"), times(1, "mine")].flat(),
    ...[times(9, "change"), times(1, "payLast"), times(1, "mine")].flat(),
    ...[times(1, "register"), times(1, "mine"), times(1, "restart"), times(9, "give")].flat(),
    ...[times(1, "payLast"), times(1, "mine")].flat()
  ]
}

describe("the recovery words", () => {
  it.scopedLive.each(TYPES)(
    "restore every coin after as many addresses as the wallet gives out (%s)",
    (type) => restoresAll(toTheEnd(type)),
    { timeout: 120_000 }
  )

  it.scopedLive(
    "restore every coin and name after any use of the wallet and of old copies of its file",
    () =>
      Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(steps, (all) => Effect.runPromise(Effect.scoped(restoresAll(all)))),
          { numRuns: 2 }
        )
      ),
    { timeout: 240_000 }
  )
})

const restoresAll = (all: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    const directory = yield* fundedDirectory
    const file = join(directory, "wallet.json")
    const old = join(directory, "old.json")
    copyFileSync(file, old)
    const given: Array<Bytes> = []
    let left = all
    while (left.length > 0) {
      left = yield* withWallets(directory, (node) => run(node, left, given), RULES)
      const [next, ...after] = left
      if (next?.do === "oldCopy") copyFileSync(old, file)
      left = after
    }
    const before = yield* withWallets(
      directory,
      ({ minePool, wallet }) =>
        Effect.gen(function*() {
          // Payments that wait in the file are offered again, so that a block has them.
          yield* wallet.settled
          yield* minePool
          return holdings(wallet)
        }),
      RULES
    )
    const fresh = yield* temporaryDirectory
    cpSync(directory, fresh, { recursive: true })
    const mnemonic = documentOf(directory).seed?.mnemonic
    if (mnemonic === undefined || !("plain" in mnemonic)) return assert.fail("no words")
    const document = yield* seededDocument({
      network: "regtest",
      mnemonic: Redacted.make(mnemonic.plain),
      createdAt: 0,
      birthday: 0
    })
    for (const name of ["wallet.json", "wallet.db", "wallet.db-wal", "wallet.db-shm", "old.json"]) {
      rmSync(join(fresh, name), { force: true })
    }
    writeFileSync(join(fresh, "wallet.json"), encodeDocument({ ...document, rescanFrom: 0 }))
    const after = yield* withWallets(
      fresh,
      ({ wallet }) =>
        Effect.zipRight(
          eventually("the chain is searched", Effect.map(wallet.keys.words, (words) => words !== undefined)),
          Effect.sync(() => holdings(wallet))
        ),
      RULES
    )
    assert.deepStrictEqual(after, before)
  })
