import { assert, describe, it } from "@effect/vitest"
import type { RegistrationEntry } from "../../../src/wallet/keys/registrationEntry.ts"
import { decodeDocument, emptyDocument, encodeDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { entryKey, isUnsent, MAX_FINISHED, UNSENT, withEntry, withoutEntry } from "../../../src/wallet/names/entries.ts"

const entry = (
  id: number,
  step: RegistrationEntry["step"],
  value: Uint8Array | undefined = undefined
): RegistrationEntry => ({
  name: Uint8Array.of(id, id >> 8),
  rand: new Uint8Array(20),
  value,
  newTxid: UNSENT,
  newVout: 0,
  firstUpdateTxid: undefined,
  step,
  note: "",
  failure: undefined,
  createdAt: 0
})

const EMPTY = emptyDocument({ network: "regtest", createdAt: 0 })

describe("entries", () => {
  it("withEntry replaces the entry of a commitment, and withoutEntry removes it", () => {
    const one = withEntry(entry(1, "committed"))(EMPTY)
    const moved = withEntry(entry(1, "maturing"))(withEntry(entry(2, "committed"))(one))
    assert.deepStrictEqual(moved.registrations.map(({ step }) => step), ["maturing", "committed"])
    const renamed = withEntry(entry(3, "committed"), entryKey(entry(1, "maturing")))(moved)
    assert.deepStrictEqual(renamed.registrations.map(({ name }) => name[0]), [3, 2])
    assert.deepStrictEqual(withoutEntry(entryKey(entry(3, "done")))(renamed).registrations.length, 1)
  })

  it("the oldest finished entries are dropped, and no unfinished one", () => {
    const value = Uint8Array.of(1)
    const registrations = [
      entry(0, "committed"),
      ...Array.from({ length: MAX_FINISHED }, (_, i) => entry(i + 1, i % 2 === 0 ? "done" : "failed", value))
    ]
    const full = withEntry(entry(1, "done"))({ ...EMPTY, registrations })
    assert.strictEqual(full.registrations.length, MAX_FINISHED + 1)
    const more = withEntry(entry(5_000, "done"))(full)
    assert.strictEqual(more.registrations.length, MAX_FINISHED + 1)
    assert.deepStrictEqual(more.registrations.slice(0, 2).map(({ name }) => name[0]), [0, 2])
  })

  it("a name_new by hand that failed is kept: its coin may be unspent, and the entry has its salt", () => {
    const registrations = Array.from({ length: MAX_FINISHED }, (_, i) => entry(i + 1, "done", Uint8Array.of(1)))
    const full = { ...EMPTY, registrations: [entry(0, "failed"), ...registrations] }
    const more = withEntry(entry(5_000, "done"))(full)
    assert.deepStrictEqual(more.registrations.slice(0, 2).map(({ name }) => name[0]), [0, 2])
  })

  it("an entry can be stored before its NAME_NEW is sent", () => {
    const read = decodeDocument(encodeDocument(withEntry(entry(1, "committed"))(EMPTY)))
    assert.isTrue(read._tag === "Right" && read.right.document.registrations.every(isUnsent))
  })
})
