import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { requestRebuild } from "../../../src/chain/repair/rebuild.ts"
import { type ConsensusParams, regtestParams, withOverrides } from "../../../src/consensus/params.ts"
import type { Activation } from "../../../src/consensus/readerParams.ts"
import { blocksOf, temporaryDirectory, withChain } from "../../support/chain.ts"
import { fillChain } from "../../support/filledChain.ts"

const blocks = blocksOf("regtest-names/blocks.dat")
const TIP = 70

const under = (activation: Partial<Activation>): ConsensusParams => withOverrides(regtestParams, { activation })

const rulesIn = (directory: string): string => join(directory, "chainstate", "RULES")

const stored = (directory: string): Record<string, unknown> => JSON.parse(readFileSync(rulesIn(directory), "utf8"))

/** The height of the tip after a start under these rules. */
const heightUnder = (directory: string, params: ConsensusParams) =>
  withChain(directory, (chain) => Effect.map(chain.tip, ({ height }) => height), params)

/** A chain of the reference node's blocks that was validated under these rules. */
const validatedUnder = (params: ConsensusParams) =>
  Effect.tap(
    temporaryDirectory,
    (directory) => withChain(directory, (chain) => chain.sink.deliver(blocks.slice(1, TIP + 1), false), params)
  )

describe("the rules of a chain state", () => {
  it.scoped("are in a file that a person can read, from the first start on", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* heightUnder(directory, under({ csv: 7, taproot: Infinity }))
      assert.deepStrictEqual(stored(directory), {
        bip16: 0,
        bip34: 1,
        bip65: 1,
        bip66: 1,
        csv: 7,
        segwit: 0,
        taproot: null
      })
    }))

  it.scoped("a start whose rules begin below the tip, and earlier than before, is refused and changes nothing", () =>
    Effect.gen(function*() {
      const directory = yield* validatedUnder(under({ csv: 60, taproot: Infinity }))
      const before = stored(directory)
      const refusal = (activation: Partial<Activation>) => Effect.flip(heightUnder(directory, under(activation)))
      const csv = yield* refusal({ csv: 50, taproot: Infinity })
      assert.strictEqual(csv._tag, "ValidatedByOtherRules")
      assert.strictEqual(
        csv.message,
        `chain state ${
          join(directory, "chainstate")
        } was validated under other rules. csv: it was applied from height ` +
          "60 on, and this start applies it from height 50 on: blocks 50 to 59 may break it. Start with " +
          "-reindex-chainstate, or with the rules of before (-testactivationheight, -vbparams, -test)"
      )
      const taproot = yield* refusal({ csv: 60, taproot: TIP })
      assert.include(
        taproot.message,
        `taproot: it was applied at no height, and this start applies it from height ${TIP} on`
      )
      assert.deepStrictEqual(stored(directory), before)
      assert.strictEqual(yield* heightUnder(directory, under({ csv: 60, taproot: Infinity })), TIP)
    }))

  it.scoped("may differ above the tip, where they are those of the last start", () =>
    Effect.gen(function*() {
      const directory = yield* validatedUnder(under({ taproot: TIP + 1 }))
      assert.strictEqual(yield* heightUnder(directory, under({ taproot: TIP + 2 })), TIP)
      assert.strictEqual(stored(directory)["taproot"], TIP + 2)
      assert.strictEqual(yield* heightUnder(directory, under({ taproot: TIP + 1 })), TIP)
      const onward = (activation: Partial<Activation>) =>
        withChain(directory, (chain) => chain.sink.deliver(blocks.slice(TIP + 1, TIP + 2), false), under(activation))
      yield* onward({ taproot: Infinity })
      const refused = yield* Effect.flip(heightUnder(directory, under({ taproot: TIP + 1 })))
      assert.include(refused.message, `block ${TIP + 1} may break it`)
    }))

  it.scoped("may begin later than before: no stored block breaks fewer rules", () =>
    Effect.gen(function*() {
      const directory = yield* validatedUnder(regtestParams)
      const later = under({ bip16: 1_000_000, bip34: 2, csv: 5, segwit: 6 })
      assert.strictEqual(yield* heightUnder(directory, later), TIP)
      assert.include(stored(directory), { bip16: 1_000_000, segwit: 6 })
    }))

  it.scoped("are those of the start in a directory of an earlier release", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.tap(temporaryDirectory, (directory) => fillChain(directory, TIP))
      rmSync(rulesIn(directory))
      assert.strictEqual(yield* heightUnder(directory, under({ csv: 10 })), TIP)
      assert.strictEqual(stored(directory)["csv"], 10)
      assert.strictEqual((yield* Effect.flip(heightUnder(directory, regtestParams)))._tag, "ValidatedByOtherRules")
    }))

  it.scoped("are new ones where the chain state is rebuilt", () =>
    Effect.gen(function*() {
      const directory = yield* validatedUnder(under({ csv: 60 }))
      requestRebuild({ chainstateDirectory: join(directory, "chainstate"), reason: "asked for by -reindex-chainstate" })
      assert.strictEqual(yield* heightUnder(directory, regtestParams), TIP)
      assert.strictEqual(stored(directory)["csv"], 1)
    }))

  it.scoped("of another release: one that this release does not know counts for nothing, a missing one as never applied", () =>
    Effect.gen(function*() {
      const directory = yield* validatedUnder(regtestParams)
      const { taproot, ...others } = stored(directory)
      assert.strictEqual(taproot, 0)
      writeFileSync(rulesIn(directory), JSON.stringify({ ...others, taproot, later: 5 }))
      assert.strictEqual(yield* heightUnder(directory, regtestParams), TIP)
      writeFileSync(rulesIn(directory), JSON.stringify(others))
      assert.include(
        (yield* Effect.flip(heightUnder(directory, regtestParams))).message,
        "taproot: it was applied at no height"
      )
    }))

  it.scoped("a damaged file ends the start with the remedy", () =>
    Effect.gen(function*() {
      const directory = yield* validatedUnder(regtestParams)
      for (const text of ["", "[]", "{\"csv\": -1}", "{\"csv\": \"1\"}"]) {
        writeFileSync(rulesIn(directory), text)
        const failure = yield* Effect.flip(heightUnder(directory, regtestParams))
        assert.strictEqual(failure._tag, "StorageCorrupted", text)
        assert.include(failure.message, "Delete it, and start with the activation heights of before")
      }
    }))

  it.scoped("BIP 94 is checked in the headers of the chain", () =>
    Effect.gen(function*() {
      const limited = withOverrides(regtestParams, { limitsTimewarp: true })
      const directory = yield* validatedUnder(regtestParams)
      assert.strictEqual(yield* heightUnder(directory, limited), TIP)
      const at = blocks.findIndex(({ header }, height) =>
        height > 1 && height <= TIP && header.time < (blocks[height - 1]?.header.time ?? 0) - 600
      )
      assert.isAbove(at, 1)
      const refused = yield* Effect.flip(heightUnder(directory, { ...limited, retargetInterval: at }))
      assert.include(refused.message, `bip94: this start applies it from height ${at} on, and block ${at} breaks it`)
    }))
})
