import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { encodeBlockHeader, readBlockHeader } from "../../src/protocol/block.ts"
import { type Bytes, EMPTY, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { decodeTransaction, makeTransaction } from "../../src/protocol/transaction.ts"
import { isFailure, type NameProof } from "../../src/verify/nameProof.ts"
import { verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { proofOf } from "../support/nameProofs.ts"
import { isWrong, type Path, placesIn, type RealProof, realProof, replaced, valueAt } from "./proofMutations.ts"

/**
 * Each field of a proof, changed by its type: what is accepted shows what the chain has, and all else has one reason. The
 * fields inside the transactions and headers count, too.
 */

const OPTIONS = { network: "regtest", now: namedChain.now } as const

/** A proof with earlier operations and headers, and one of another name. */
const [REAL, OTHER]: ReadonlyArray<RealProof> = livingNames
  .map((name) => proofOf(namedChain, name, { following: 3, whole: true }))
  .filter(({ operations }) => operations.length > 1 && operations.every(({ branch }) => branch.length > 0))
  .slice(0, 2)
  .map((proof) => realProof(proof, OPTIONS) ?? assert.fail("the proof of the chain does not count"))

type Change = (value: unknown) => unknown

const always = (value: unknown): Change => () => value

/** What is of another type than any field. */
const ODD: ReadonlyArray<Change> = [null, true, 1.5, -1, 2 ** 53, "", "zz", {}, [], undefined].map(always)

const numbers: FastCheck.Arbitrary<Change> = FastCheck.oneof(
  FastCheck.integer({ min: -40, max: 40 }).map((by): Change => (value) => Number(value) + by),
  FastCheck.nat({ max: 31 }).map((bit): Change => (value) => Number(value) ^ (1 << bit)),
  FastCheck.constantFrom(...[0, Number.MAX_SAFE_INTEGER, 2 ** 32, Number.NaN, "1"].map(always))
)

type ByteEdit = (given: { readonly here: number; readonly byte: number }) => ReadonlyArray<number>

/** Changes a byte, removes it, repeats it, or puts another before it; sometimes cuts what follows. */
const bytes: FastCheck.Arbitrary<(given: Bytes) => Bytes> = FastCheck.tuple(
  FastCheck.nat(),
  FastCheck.integer({ min: 1, max: 255 }),
  FastCheck.constantFrom<ByteEdit>(
    ({ byte, here }) => [here ^ byte],
    () => [],
    ({ here }) => [here, here],
    ({ byte, here }) => [byte, here]
  ),
  FastCheck.nat({ max: 4 })
).map(([place, byte, edit, cut]) => (given) => {
  const at = given.length === 0 ? 0 : place % given.length
  const edited = edit({ byte, here: given[at] ?? 0 })
  return Uint8Array.from([...given.subarray(0, at), ...edited, ...cut === 0 ? [] : given.subarray(at + 1)])
})

const hexes: FastCheck.Arbitrary<Change> = FastCheck.oneof(
  bytes.map((change): Change => (value) => toHex(change(fromHex(String(value)) ?? EMPTY))),
  FastCheck.constantFrom<Change>(
    (value) => `${String(value)}0`,
    (value) => String(value).slice(1),
    (value) => `0x${String(value)}`,
    (value) => String(value).replace(/.$/, "g"),
    (value) => [value]
  )
)

type ListEdit = (items: ReadonlyArray<unknown>, at: number) => ReadonlyArray<unknown>

const lists: FastCheck.Arbitrary<Change> = FastCheck.tuple(
  FastCheck.nat(),
  FastCheck.constantFrom<ListEdit>(
    (items, at) => items.toSpliced(at, 1),
    (items, at) => items.toSpliced(at, 0, ...items.slice(at, at + 1)),
    (items, at) => items.toSpliced(at, 2, ...items.slice(at, at + 2).toReversed()),
    () => [],
    (items) => items.toReversed()
  )
).map(([place, edit]) => (value) => {
  const items: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
  return edit(items, items.length === 0 ? 0 : place % items.length)
})

const objects: FastCheck.Arbitrary<Change> = FastCheck.tuple(FastCheck.nat(), FastCheck.boolean()).map(
  ([place, adds]) => (value) => {
    const entries = Object.entries(typeof value === "object" && value !== null ? value : {})
    return Object.fromEntries(
      adds ? [...entries, ["more", 1]] : entries.filter((_, i) => i !== place % Math.max(1, entries.length))
    )
  }
)

/** The fields inside a transaction, changed and encoded again. */
const transactions: FastCheck.Arbitrary<Change> = FastCheck.record({
  field: FastCheck.constantFrom(
    "version",
    "lockTime",
    "sequence",
    "prevout",
    "scriptSig",
    "witness",
    "value",
    "script"
  ),
  change: bytes,
  by: FastCheck.integer({ min: 1, max: 1_000 })
}).map(({ by, change, field }) => (value) => {
  const given = decodeTransaction(fromHex(String(value)) ?? EMPTY)
  const inputs = given.inputs.map((each, i) =>
    i > 0 ? each : {
      ...each,
      ...field === "sequence" ? { sequence: (each.sequence ^ by) >>> 0 } : {},
      ...field === "prevout" ? { prevout: change(each.prevout).subarray(0, 36) } : {},
      ...field === "scriptSig" ? { scriptSig: change(each.scriptSig) } : {},
      ...field === "witness" ? { witness: [Uint8Array.of(by % 256), ...each.witness] } : {}
    }
  )
  const outputs = given.outputs.map((each) => ({
    value: field === "value" ? each.value + by : each.value,
    script: field === "script" ? change(each.script) : each.script
  }))
  const version = field === "version" ? given.version + by : given.version
  const lockTime = field === "lockTime" ? (given.lockTime ^ by) >>> 0 : given.lockTime
  return toHex(makeTransaction({ version, lockTime, inputs, outputs }).bytes)
})

/** The fields of a header, changed and encoded again; its merged-mining proof stays or goes. */
const headers: FastCheck.Arbitrary<Change> = FastCheck.record({
  field: FastCheck.constantFrom("version", "prevHash", "merkleRoot", "time", "bits", "nonce", "auxpow"),
  place: FastCheck.nat({ max: 31 }),
  by: FastCheck.integer({ min: 1, max: 255 })
}).map(({ by, field, place }) => (value) => {
  const { auxpow, header } = readBlockHeader(new Reader(fromHex(String(value)) ?? EMPTY))
  const flipped = (hash: Bytes): Bytes => hash.map((byte, i) => i === place ? byte ^ by : byte)
  const changed = makeHeader({
    version: field === "version" ? header.version ^ (1 << place) : header.version,
    prevHash: field === "prevHash" ? flipped(header.prevHash) : header.prevHash,
    merkleRoot: field === "merkleRoot" ? flipped(header.merkleRoot) : header.merkleRoot,
    time: field === "time" ? header.time + by : header.time,
    bits: field === "bits" ? header.bits ^ by : header.bits,
    nonce: field === "nonce" ? header.nonce ^ by : header.nonce
  })
  return toHex(encodeBlockHeader({ header: changed, auxpow: field === "auxpow" ? undefined : auxpow }))
})

const PROOF: NameProof = REAL?.proof ?? assert.fail("the chain has no such name")

const fieldOf = (path: Path): string =>
  path.map((key, i) => /^\d+$/.test(String(key)) ? i > 1 ? "n" : Number(key) === 0 ? "newest" : "earlier" : key).join(
    "."
  )

/** The places of each kind of field: those of the newest operation are apart from those of earlier ones. */
const FIELDS = new Map<string, ReadonlyArray<Path>>()
for (const path of placesIn(PROOF)) FIELDS.set(fieldOf(path), [...FIELDS.get(fieldOf(path)) ?? [], path])

/** The changes of a field, by its type. */
const changesOf = (path: Path): FastCheck.Arbitrary<Change> => {
  const value = valueAt(PROOF, path)
  const field = path.at(-1)
  const parent = path.at(-2)
  const byType = typeof value === "number"
    ? [numbers]
    : typeof value === "string"
    ? field === "tx"
      ? [hexes, transactions]
      : field === "header" || parent === "headers"
      ? [hexes, headers]
      : [hexes]
    : [Array.isArray(value) ? lists : objects]
  const ofOther = always(valueAt(OTHER?.proof, path))
  return FastCheck.oneof(...byType, FastCheck.constantFrom(...ODD, ofOther))
}

/** One sentence without a full stop. */
const REASON = /^(?!.*\. )[^\n]{7,200}[^\n.]$/

/** Changes enough for the parts of transactions and headers. */
const runsFor = (field: string): number => /\.tx$|header/.test(field) ? 80 : 20

describe("a proof with one changed field", () => {
  it("shows what the chain has, or has one reason not to count", () => {
    const shown = [...REAL?.shown ?? [], ...OTHER?.shown ?? []]
    const reasons = new Set<string>()
    for (const [field, places] of FIELDS) {
      const mutated = FastCheck.constantFrom(...places).chain((path) =>
        changesOf(path).map((change) => ({ path, change }))
      )
      FastCheck.assert(
        FastCheck.property(mutated, ({ change, path }) => {
          const changed = replaced(PROOF, path, change)
          const outcome = verifyNameProof(changed, OPTIONS)
          if (isFailure(outcome)) {
            assert.match(outcome.failed, REASON)
            reasons.add(outcome.failed.replaceAll(/\d+/g, "N"))
          } else {
            assert.isTrue(shown.some((real) => !isWrong(outcome, real)), `${path.join(".")} is accepted wrongly`)
            assert.strictEqual(outcome.nameHex, String(valueAt(changed, ["name"])).toLowerCase())
          }
        }),
        { numRuns: runsFor(field) }
      )
    }
    assert.isAbove(FIELDS.size, 30, [...FIELDS.keys()].join("\n"))
    assert.isAbove(reasons.size, 30, [...reasons].join("\n"))
  })
})
