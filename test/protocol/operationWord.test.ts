import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { OPERATION_KINDS } from "../../src/names/events/kinds.ts"
import { type OperationEvent, operationKind, seenBy } from "../../src/names/events/NameEvent.ts"
import type { NameEntry } from "../../src/names/NameEntry.ts"
import { type Bytes, equal } from "../../src/protocol/bytes.ts"
import {
  changeText,
  type Deed,
  deedOfChange,
  DEEDS,
  deedText,
  waitingChangeText,
  waitingText
} from "../../src/protocol/operationWord.ts"

/** A script with an address. */
const script = (owner: number): Bytes =>
  Uint8Array.of(0x76, 0xa9, 20, ...Array.from({ length: 20 }, () => owner), 0x88, 0xac)

const HISTORY = fc.array(
  fc.record({
    op: fc.constantFrom("name_firstupdate" as const, "name_update" as const),
    owner: fc.integer({ min: 0, max: 5 }),
    value: fc.integer({ min: 0, max: 2 }).map((length) => new Uint8Array(length))
  }),
  { minLength: 2, maxLength: 20 }
)

/** Addresses of the reader. */
const MINE = fc.uniqueArray(fc.integer({ min: 0, max: 5 }))

const entry = (
  { op, owner, value }: { op: NameEntry["op"]; owner: number; value: Bytes },
  height: number
): NameEntry => ({
  name: Uint8Array.of(1),
  value,
  height,
  txid: new Uint8Array(32),
  vout: 0,
  address: script(owner),
  op,
  amount: 1
})

describe("what happened to a name", () => {
  it("a name that leaves the reader's addresses is always transferred, and an own update never is", () => {
    fc.assert(
      fc.property(HISTORY, MINE, (history, mine) => {
        const isMine = (address: Bytes) => mine.some((owner) => equal(script(owner), address))
        for (const [index, after] of history.entries()) {
          const before = history[index - 1]
          if (before === undefined || after.op === "name_firstupdate") continue
          const [record, replaced] = [entry(after, index), entry(before, index - 1)]
          const worded = deedOfChange({ record, before: replaced, isMine })
          const text = changeText(worded)
          const [had, has] = [mine.includes(before.owner), mine.includes(after.owner)]
          if (had && !has) assert.match(text, /^transferred(, value changed)?$/)
          if (had && !has) assert.match(waitingChangeText(worded), /^transfer(, value changed)?$/)
          if (had && has) assert.match(text, /^(renewed|value changed|value removed)$/)
          if (!had && has) assert.match(text, /^given to you/)
          if (before.owner === after.owner) assert.notMatch(text, /transferred|given/)
          // Events agree, with and without a wallet.
          const event: OperationEvent = {
            type: operationKind(record, replaced),
            record,
            before: replaced,
            cursor: { height: 1, number: 1, block: "" },
            height: 1,
            hash: new Uint8Array(32)
          }
          const agreed = (deed: Deed): string => deed === "received" ? "transferred" : deed
          assert.strictEqual(event.type, agreed(deedOfChange({ record, before: replaced }).deed))
          assert.strictEqual(seenBy(event, isMine).type, agreed(worded.deed))
        }
      })
    )
  })

  it("each deed has its own words, and each kind of event is a deed", () => {
    assert.strictEqual(new Set(DEEDS.map((deed) => deedText(deed))).size, DEEDS.length)
    assert.strictEqual(new Set(DEEDS.map((deed) => waitingText(deed))).size, DEEDS.length)
    assert.includeMembers([...DEEDS], [...OPERATION_KINDS])
  })
})

describe("the words for names", () => {
  // A surface with words of its own would contradict the others sooner or later.
  it.each(
    [
      ["what happened", /"(?:given to you|value changed|value removed|transferred to)\b/, [
        "protocol/operationWord.ts"
      ]],
      ["what becomes of a name", /: it is lost|would renew automatically|is not renewed automatically; /, [
        "base/outlookWords.ts"
      ]],
      ["that the wallet renews a name", /(?:text|renews): "auto"|\? "auto"/, ["base/outlookWords.ts"]]
    ] as const
  )("for %s are in one file", (_, words, files) => {
    const src = join(import.meta.dirname, "../../src")
    const found = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts") && words.test(readFileSync(join(src, file), "utf8"))
    )
    assert.deepStrictEqual(found, [...files])
  })
})
