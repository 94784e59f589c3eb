import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import type { RegistrationEntry } from "../../../src/wallet/keys/registrationEntry.ts"
import {
  decodeDocument,
  emptyDocument,
  encodeDocument,
  UnfitDocument,
  type WalletDocument
} from "../../../src/wallet/keys/WalletDocument.ts"
import { registrationOf } from "../../../src/wallet/names/entries.ts"
import { TAKEN_IN_0_1_0, withoutChecksum } from "../../support/walletText.ts"

const empty = emptyDocument({ network: "regtest", createdAt: 1_700_000_000 })

const registration: RegistrationEntry = {
  name: Uint8Array.of(100, 47, 120),
  rand: new Uint8Array(20).fill(1),
  value: undefined,
  newTxid: new Uint8Array(32).fill(2),
  newVout: 1,
  firstUpdateTxid: undefined,
  step: "committed",
  note: "",
  failure: undefined,
  createdAt: 5
}

const full: WalletDocument = {
  ...empty,
  blank: false,
  encryption: {
    kdf: "scrypt",
    logN: 17,
    r: 8,
    p: 1,
    salt: new Uint8Array(32).fill(3),
    masterKey: new Uint8Array(72).fill(4)
  },
  seed: { seed: { sealed: "00ff" }, fingerprint: Uint8Array.of(1, 2, 3, 4) },
  imports: [{
    descriptor: "raw(51)#8lvh9jxk",
    label: "a",
    timestamp: 0,
    active: false,
    internal: false,
    range: [0, 5],
    next: 0,
    privateKeys: [0],
    secret: { plain: "x" }
  }],
  labels: [{ address: "a", label: "\u0000\u2028", purpose: "send" }],
  registrations: [
    registration,
    { ...registration, step: "failed", failure: { reason: "taken", coinsIn: "name_new" } },
    { ...registration, value: new Uint8Array(), firstUpdateTxid: new Uint8Array(32), destination: Uint8Array.of(1) }
  ],
  transactions: [{ txid: "ab".repeat(32), hex: "00", time: 1, order: 2, comment: "c", abandoned: false }],
  queue: ["0011"],
  lockedCoins: [{ txid: "cd".repeat(32), vout: 3 }],
  renewals: { all: true, names: [Uint8Array.of(1)], except: [Uint8Array.of(2)] }
}

const plain = (document: WalletDocument): Record<string, unknown> =>
  JSON.parse(withoutChecksum(encodeDocument(document)))

const changed = (change: (json: Record<string, unknown>) => unknown): string => JSON.stringify(change(plain(full)))

const problemOf = (text: string): string =>
  Either.match(decodeDocument(text), { onLeft: (found) => found, onRight: () => "" })

describe("a wallet's document", () => {
  it("decodes to the encoded document", () => {
    for (const document of [empty, full]) {
      assert.deepStrictEqual(Either.getOrThrow(decodeDocument(encodeDocument(document))), {
        document,
        version: 1,
        checksummed: true
      })
    }
  })

  it.each([
    [
      `${TAKEN_IN_0_1_0}; its name_new keeps 0.01000000 NMC, which only a registration of this name can use`,
      { reason: "taken", coinsIn: "name_new" }
    ],
    [
      `${TAKEN_IN_0_1_0}; its name_firstupdate keeps the coins that pay for it: "abandontransaction ${
        "02".repeat(32)
      }" frees them`,
      { reason: "taken", coinsIn: "name_firstupdate" }
    ],
    [TAKEN_IN_0_1_0, { reason: "taken" }],
    ["its name_new was abandoned", { reason: "abandoned" }],
    [
      "its name_new can never be confirmed: another transaction spends its coins",
      { reason: "conflicted" }
    ],
    ["called off by the owner", { reason: "cancelled" }],
    [
      "called off by the owner; its name_new keeps 0.01000000 NMC, which only a registration of this name can use",
      { reason: "cancelled", coinsIn: "name_new" }
    ],
    ["a note that no version wrote", undefined]
  ])("of 0.1.0 has the failure of a registration as a note: %s", (note, failure) => {
    const text = `{
  "version": 1,
  "network": "regtest",
  "id": "${"00".repeat(16)}",
  "createdAt": 1700000000,
  "birthday": 1700000000,
  "privateKeys": true,
  "blank": true,
  "accounts": [],
  "imports": [],
  "labels": [],
  "registrations": [
    {
      "name": "642f78",
      "rand": "0101010101010101010101010101010101010101",
      "value": "7b7d",
      "newTxid": "${"02".repeat(32)}",
      "newVout": 1,
      "firstUpdateTxid": "${"02".repeat(32)}",
      "step": "failed",
      "note": ${JSON.stringify(note)},
      "createdAt": 5
    }
  ],
  "transactions": [],
  "queue": [],
  "lockedCoins": [],
  "renewals": {
    "all": false,
    "names": []
  }
}
`
    const { document } = Either.getOrThrow(decodeDocument(text))
    const [entry = assert.fail("no registration")] = document.registrations
    assert.deepStrictEqual([entry.failure, entry.note], [failure, failure === undefined ? note : ""])
    const shown = note.replace(TAKEN_IN_0_1_0, "another owner has registered the name")
    for (const read of [document, Either.getOrThrow(decodeDocument(encodeDocument(document))).document]) {
      assert.deepStrictEqual(read.registrations.map((each) => registrationOf(each).note), [shown])
    }
  })

  it("has a random id", () => {
    assert.notStrictEqual(emptyDocument({ network: "regtest", createdAt: 0 }).id, empty.id)
  })

  it.each([
    ["", "it is empty"],
    [" \n", "it is empty"],
    [encodeDocument(full).slice(0, -4), "it is not whole, or not JSON"],
    ["\u0000".repeat(100), "it is not whole, or not JSON"],
    ["[]", "it is not the file of a wallet: it has no version"],
    ["null", "it is not the file of a wallet"],
    ["{\"version\":\"1\"}", "it is not the file of a wallet: it has no version"],
    [
      "{\"version\":2,\"anything\":1}",
      "it is of format version 2, made by a newer svcd, and this one reads version 1: use the newer one"
    ],
    ["{\"version\":0}", "version is invalid"],
    [changed((json) => ({ ...json, secrets: 1 })), "secrets is unknown here"],
    [changed((json) => ({ ...json, network: "moonnet" })), "network is invalid"],
    [
      changed((json) => ({ ...json, encryption: { ...Object(json["encryption"]), logN: 40 } })),
      "encryption.logN is invalid"
    ],
    [
      changed((json) => ({ ...json, encryption: { ...Object(json["encryption"]), r: 2 ** 40 } })),
      "encryption.r is invalid"
    ],
    [
      changed((json) => ({ ...json, seed: { seed: { plain: 5 }, fingerprint: "00" } })),
      "seed.seed.plain is invalid"
    ],
    [changed((json) => ({ ...json, queue: ["xyz"] })), "queue.0 is invalid"]
  ])("names the problem of %j without its content", (text, problem) => {
    assert.strictEqual(problemOf(text), problem)
  })

  it("is not written if it is invalid, and no message has its content", () => {
    const secret = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"
    const [entry] = full.imports
    if (entry === undefined) return assert.fail("no import")
    const imports = [{ ...entry, secret: { plain: secret.repeat(4_000) } }]
    try {
      encodeDocument({ ...full, imports })
    } catch (error) {
      assert.instanceOf(error, UnfitDocument)
      assert.match(error.message, /^imports\.0\.secret.* is invalid$/)
      return
    }
    assert.fail("it was written")
  })

  it("is upgraded from an older format", () => {
    const { version: _, ...rest } = plain(empty)
    const upgrades = new Map([[0, (document: object) => ({ ...document, version: 1 })]])
    const decoded = Either.getOrThrow(decodeDocument(JSON.stringify({ ...rest, version: 0 }), upgrades))
    assert.deepStrictEqual(decoded, { document: empty, version: 0, checksummed: false })
  })
})
