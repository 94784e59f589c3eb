import { afterEach, assert, describe, it } from "@effect/vitest"
import { EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { nameScriptHash } from "../../src/verify/askElectrum.ts"
import { isFailure } from "../../src/verify/nameProof.ts"
import {
  decide,
  resolve,
  type ResolvedName,
  type ResolveProofOptions,
  type UnresolvedName,
  wantedName
} from "../../src/verify/resolve.ts"
import { type VerifiedName, verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import {
  type ElectrumFault,
  electrumOver,
  type FakeElectrum,
  lying,
  socketsTo,
  spoiled
} from "../support/fakeElectrum.ts"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { proofOf, settingsOf } from "../support/nameProofs.ts"
import { text } from "../support/regtest.ts"

const own = globalThis.WebSocket

const use = (servers: Readonly<Record<string, FakeElectrum>>): void => {
  Object.assign(globalThis, { WebSocket: socketsTo(servers) })
}

afterEach(() => {
  Object.assign(globalThis, { WebSocket: own })
})

/** A name with a text, and two operations that are blocks apart. */
const RENEWED = livingNames.find((name) => {
  const [newest, before] = settingsOf(namedChain, name)
  return newest !== undefined && before !== undefined && before.height < newest.height &&
    /^[a-z]+\/[a-z0-9]+$/.test(shown(name))
}) ?? EMPTY

function shown(name: Uint8Array): string {
  return Buffer.from(name).toString("utf8")
}

const NAME = shown(RENEWED)
const [NEWEST = assert.fail(), BEFORE = assert.fail()] = settingsOf(namedChain, RENEWED)

const good = () => electrumOver(namedChain, livingNames)

/** A server whose chain ends before the newest operation. */
const behind = () => electrumOver({ ...namedChain, blocks: namedChain.blocks.slice(0, NEWEST.height) }, livingNames)

const asked = (
  servers: Readonly<Record<string, FakeElectrum>>,
  { name = NAME, ...options }: Partial<ResolveProofOptions> & { readonly name?: string } = {}
): Promise<ResolvedName | UnresolvedName> => {
  use(servers)
  return resolve(name, { network: "regtest", now: namedChain.now, servers: Object.keys(servers), ...options })
}

const found = (outcome: ResolvedName | UnresolvedName): ResolvedName =>
  "failed" in outcome ? assert.fail(JSON.stringify(outcome)) : outcome

const missed = (outcome: ResolvedName | UnresolvedName): UnresolvedName =>
  "failed" in outcome ? outcome : assert.fail(JSON.stringify(outcome))

const wanted = { name: RENEWED, local: "_", host: undefined }

const verified: VerifiedName = (() => {
  const outcome = verifyNameProof(proofOf(namedChain, RENEWED), { network: "regtest", now: namedChain.now })
  return isFailure(outcome) ? assert.fail(outcome.failed) : outcome
})()

describe("resolve", () => {
  it("shows what two servers prove, with the height from the coinbase", async () => {
    const servers = { "wss://a": good(), "wss://b": good() }
    const outcome = found(await asked(servers))
    assert.deepInclude(outcome, {
      nameHex: toHex(RENEWED),
      height: NEWEST.height,
      agreeing: 2,
      proof: "buried",
      problems: [],
      local: "_"
    })
    assert.deepStrictEqual(servers["wss://a"].calls.slice(0, 4), [
      "server.version",
      "blockchain.headers.subscribe",
      "blockchain.scripthash.get_history",
      "blockchain.transaction.get"
    ])
  })

  it("says so where a server has no coinbases", async () => {
    const names = () => electrumOver(namedChain, livingNames, { lacks: ["blockchain.transaction.id_from_pos"] })
    const { problems } = found(await asked({ "wss://a": names(), "wss://b": names() }))
    assert.deepStrictEqual(problems.map(({ code }) => code), ["height-claimed"])
  })

  it("takes the newest of two proofs, and says that one server is behind", async () => {
    const outcome = found(await asked({ "wss://a": behind(), "wss://b": good() }))
    assert.deepInclude(outcome, { height: NEWEST.height, agreeing: 1 })
    assert.deepStrictEqual(
      outcome.answers.map((answer) => "verified" in answer ? answer.verified.height : answer).toSorted(),
      [
        BEFORE.height,
        NEWEST.height
      ]
    )
  })

  it("says that a name is missing where enough servers do", async () => {
    const servers = { "wss://a": good(), "wss://b": good() }
    assert.deepInclude(missed(await asked(servers, { name: "d/missing" })), { absent: true })
    const hidden = { "wss://a": electrumOver(namedChain, []), "wss://b": good() }
    assert.deepInclude(found(await asked(hidden)), { height: NEWEST.height, agreeing: 1 })
  })

  it.each<ElectrumFault>(["refuses", "silent", "hangs up", "no JSON", "binary", "too long"])(
    "does without a server that is faulty: %s",
    async (fault) => {
      const faulty = electrumOver(namedChain, livingNames, { fault })
      const three = { "wss://a": faulty, "wss://b": good(), "wss://c": good() }
      assert.strictEqual(found(await asked(three)).agreeing, 2)
      const two = { "wss://a": faulty, "wss://b": good() }
      const outcome = missed(await asked(two, { timeout: 20 }))
      assert.deepInclude(outcome, { failed: "1 of 2 servers gave a valid answer", absent: false })
    }
  )

  it.each<readonly [what: string, method: string, change: (result: unknown) => unknown]>([
    ["another transaction", "blockchain.transaction.get", spoiled],
    ["a transaction that is cut", "blockchain.transaction.get", (tx) => String(tx).slice(0, -10)],
    ["no transaction", "blockchain.transaction.get", () => 7],
    ["another branch", "blockchain.transaction.get_merkle", () => ({ merkle: ["00".repeat(32)], pos: 0 })],
    ["no branch", "blockchain.transaction.get_merkle", () => null],
    ["another header", "blockchain.block.header", () => toHex(namedChain.blocks[1]?.header.bytes ?? EMPTY)],
    ["another history", "blockchain.scripthash.get_history", () => ({ history: [] })],
    ["a history of numbers", "blockchain.scripthash.get_history", () => [1, 2]],
    ["a tip without a height", "blockchain.headers.subscribe", () => ({ hex: "00" })]
  ])("refuses a server that sends %s", async (_, method, change) => {
    const liar = lying(good(), (called, result) => called === method ? change(result) : result)
    const outcome = missed(await asked({ "wss://a": liar, "wss://b": good() }))
    assert.strictEqual(outcome.failed, "1 of 2 servers gave a valid answer")
    assert.lengthOf(outcome.answers.filter((answer) => "failed" in answer), 1)
    assert.strictEqual(found(await asked({ "wss://a": liar, "wss://b": good() }, { agree: 1 })).height, NEWEST.height)
  })

  it("takes a height that a block says before one that a server says", () => {
    const at = (height: number, time: number, claimed = false): VerifiedName => ({
      ...verified,
      height,
      time,
      txid: `${height}`,
      problems: claimed ? [{ code: "height-claimed", message: "" }] : []
    })
    const newest = (...each: ReadonlyArray<VerifiedName>) =>
      found(decide(each.map((one, i) => ({ server: `wss://${i}`, verified: one })), wanted, 1)).height
    const both = (one: VerifiedName, other: VerifiedName, expected: number) => {
      assert.strictEqual(newest(one, other), expected)
      assert.strictEqual(newest(other, one), expected)
    }
    const day = 86_400
    // One lying server, whose height is as high as it likes.
    both(at(850_000, 100 * day), at(2_000_000, 100 * day, true), 850_000)
    both(at(850_000, 100 * day), at(849_000, 93 * day), 850_000)
    both(at(900_000, 93 * day), at(850_000, 100 * day), 850_000)
    both(at(900_000, 93 * day, true), at(850_000, 100 * day, true), 850_000)
    // Neighbouring blocks, the later one with an earlier time.
    both(at(850_001, 100 * day - 600), at(850_000, 100 * day), 850_001)
  })

  it("counts a server that shows an expired name as one that knows no living name", () => {
    const expired = (server: string) => ({ server, failed: "the name expired 3 blocks ago", code: "expired" as const })
    const outcome = missed(decide([expired("wss://a"), expired("wss://b")], wanted, 2))
    assert.deepInclude(outcome, { failed: "the name has expired", code: "expired", absent: true })
    const mixed = missed(decide([expired("wss://a"), { server: "wss://b", absent: true }], wanted, 2))
    assert.deepInclude(mixed, { code: "expired", absent: true })
    assert.strictEqual(found(decide([expired("wss://a"), { server: "wss://b", verified }], wanted, 2)).agreeing, 1)
    const failing = missed(decide([expired("wss://a"), { server: "wss://b", failed: "x" }], wanted, 2))
    assert.deepInclude(failing, { failed: "1 of 2 servers gave a valid answer", absent: false })
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity])("refuses to wait for %d servers", async (agree) => {
    const outcome = missed(await asked({ "wss://a": good(), "wss://b": good() }, { agree }))
    assert.strictEqual(outcome.failed, "the option agree is not a whole number above 0")
    assert.match(missed(await asked({}, { agree, servers: [] })).failed, /^the option agree/)
  })

  it.each([
    ["wss://a.example:1", "wss://a.example:2"],
    ["wss://a.example", "wss://A.example./x"],
    ["wss://user@a.example", "wss://a.example"],
    ["ws://127.0.0.1:1", "wss://127.0.0.1:1"]
  ])("refuses %s and %s as two servers", async (...servers) => {
    assert.strictEqual(missed(await asked({}, { servers })).failed, "two servers have the same host")
  })

  it("takes servers of this machine at several ports", async () => {
    const servers = { "ws://127.0.0.1:1": good(), "ws://127.0.0.1:2": good() }
    assert.strictEqual(found(await asked(servers)).agreeing, 2)
  })

  it("refuses texts other than names, and too few or too many servers, without asking", async () => {
    const none = {}
    for (const name of ["", "example", "example.com", "@", "alice@", "/x", `d/${"a".repeat(300)}`]) {
      assert.match(
        missed(await asked(none, { name, servers: ["wss://a", "wss://b"] })).failed,
        /^the text is not a name/
      )
    }
    assert.match(missed(await asked(none, { servers: ["wss://a"] })).failed, /fewer than 2 servers/)
    const nine = Array.from({ length: 9 }, (_, i) => `wss://${i}`)
    assert.match(missed(await asked(none, { servers: nine })).failed, /more than 8 servers/)
    assert.match(missed(await asked({}, { servers: ["x", "y"] })).failed, /^0 of 2 servers/)
  })

  it.each([
    ["alice@Example.bit", { name: "d/example", local: "alice", host: "example.bit" }],
    ["www.example.bit.", { name: "d/example", local: "_", host: "www.example.bit" }],
    ["d/example", { name: "d/example", local: "_", host: undefined }],
    ["bob@id/alice", { name: "id/alice", local: "bob", host: undefined }]
  ])("reads %s", (input, expected) => {
    const wanted = wantedName(input)
    assert.deepStrictEqual(wanted === undefined ? undefined : { ...wanted, name: shown(wanted.name) }, expected)
  })

  it("asks for the hash by which ElectrumX indexes a name", () => {
    // The script hash of the reference example of blockchain.name.get_value_proof.
    assert.strictEqual(
      nameScriptHash(text("d/bitcoin")),
      "bdd490728e7f1cbea1836919db5e932cce651a82f5a13aa18a5267c979c95d3c"
    )
  })
})
