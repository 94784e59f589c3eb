import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { Flag, parseFlagNames } from "../../src/consensus/flags.ts"
import { type Bytes, concat, fromHex } from "../../src/protocol/bytes.ts"
import { tapLeafHash, tapTweak } from "../../src/protocol/taproot.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"
import { parseScript } from "../support/scriptAssembly.ts"
import { spend } from "../support/spending.ts"

/**
 * The reference node's script_tests.json: each row is a scriptSig and a scriptPubKey, with a witness and an amount
 * before them where there is one, the flags and the error. Namecoin enforces all of them.
 * Rules of the format: upstream `test/script_tests.cpp`, `script_json_test`.
 */

const FILE = "core/unit/script_tests.json"

type Row = ReadonlyArray<string | ReadonlyArray<string | number>>

interface Case {
  readonly title: string
  readonly witness: ReadonlyArray<Bytes>
  readonly value: number
  readonly scriptSig: Bytes
  readonly script: Bytes
  readonly flags: number
  readonly expected: string
}

/** The internal key of the taproot rows: the generator itself. */
const INTERNAL_KEY = secp256k1.Point.BASE.toBytes(true).subarray(1)

/** The output that commits to one leaf: the parity of its key and its x. */
const taprootOutput = (leaf: Bytes): { readonly parity: number; readonly x: Bytes } => {
  const { BASE, Fn } = secp256k1.Point
  const tweak = tapTweak({ internalKey: INTERNAL_KEY, merkleRoot: tapLeafHash(0xc0, leaf) })
  const key = BASE.add(BASE.multiply(Fn.fromBytes(tweak))).toBytes(true)
  return { parity: (key[0] ?? 0) & 1, x: key.subarray(1) }
}

const bytesOf = (hex: string): Bytes => {
  const bytes = fromHex(hex)
  assert.isDefined(bytes, hex)
  return bytes ?? new Uint8Array(0)
}

const flagsOf = (text: string): number => {
  const flags = parseFlagNames(text.split(",").filter((name) => name !== "" && name !== "NONE"))
  assert.isDefined(flags, text)
  const known = flags ?? 0
  return (known & Flag.CLEANSTACK) === 0 ? known : known | Flag.P2SH | Flag.WITNESS
}

const readWitness = (items: ReadonlyArray<string | number>): ReadonlyArray<Bytes> => {
  const witness: Array<Bytes> = []
  for (const item of items) {
    const text = String(item)
    const leaf = witness.at(-1)
    if (text.startsWith("#SCRIPT#")) witness.push(parseScript(text.slice("#SCRIPT#".length)))
    else if (text === "#CONTROLBLOCK#" && leaf !== undefined) {
      witness.push(concat(Uint8Array.of(0xc0 | taprootOutput(leaf).parity), INTERNAL_KEY))
    } else witness.push(bytesOf(text))
  }
  return witness
}

const readScript = (text: string, witness: ReadonlyArray<Bytes>): Bytes => {
  const leaf = witness.at(-2)
  if (text !== "0x51 0x20 #TAPROOTOUTPUT#" || leaf === undefined) return parseScript(text)
  return concat(Uint8Array.of(0x51, 0x20), taprootOutput(leaf).x)
}

const readCase = (row: Row): Case => {
  const [head, ...tail] = row
  const hasWitness = typeof head === "object"
  const [scriptSig, script, flags, expected] = (hasWitness ? tail : row).map(String)
  if (scriptSig === undefined || script === undefined || flags === undefined || expected === undefined) {
    throw new Error(`the row ${JSON.stringify(row)} is too short`)
  }
  const witness = hasWitness ? readWitness(head.slice(0, -1)) : []
  return {
    title: JSON.stringify(row),
    witness,
    value: hasWitness ? Math.round(Number(head.at(-1)) * 1e8) : 0,
    scriptSig: parseScript(scriptSig),
    script: readScript(script, witness),
    flags: flagsOf(flags),
    // The only name that the file shortens.
    expected: expected === "NULLFAIL" ? "SIG_NULLFAIL" : expected
  }
}

const readCases = (): ReadonlyArray<Case> => fixtureJson<Array<Row>>(FILE).filter((row) => row.length > 1).map(readCase)

const verify = ({ script, scriptSig, value, witness }: Case, flags: number): string =>
  spend(script, { scriptSig, witness }, flags, value) ?? "OK"

/** The flags without those that need other missing flags. */
const isPossible = (flags: number): boolean => {
  const witness = Flag.P2SH | Flag.WITNESS
  if ((flags & Flag.CLEANSTACK) !== 0 && (flags & witness) !== witness) return false
  return (flags & Flag.WITNESS) === 0 || (flags & Flag.P2SH) !== 0
}

/** Sets of flags from a seeded generator: the same in each run. */
const someFlags = (count: number): ReadonlyArray<number> => {
  let state = 0x2545f491
  return Array.from({ length: count }, () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state & 0x7fffff
  })
}

describe.skipIf(!hasShared)("script_tests.json", () => {
  const cases = hasShared ? readCases() : []

  it("the file has as many rows as the reference node's 31.1", () => {
    assert.strictEqual(fixtureJson<Array<Row>>(FILE).length, 1273)
    assert.strictEqual(cases.length, 1222)
  })

  it("every row has the reference node's verdict", () => {
    const wrong = cases.flatMap((row) => {
      const verdict = verify(row, row.flags)
      return verdict === row.expected ? [] : [`${verdict} for ${row.title}`]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("fewer flags accept at least as much, and more flags at most as much", () => {
    const extras = someFlags(16)
    for (const row of cases) {
      const valid = row.expected === "OK"
      for (const extra of extras) {
        const flags = valid ? row.flags & ~extra : row.flags | extra
        if (isPossible(flags)) assert.strictEqual(verify(row, flags) === "OK", valid, `${row.title} with ${flags}`)
      }
    }
  })
})
