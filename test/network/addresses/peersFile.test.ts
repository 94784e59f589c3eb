import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { AddressBook } from "../../../src/network/addresses/AddressBook.ts"
import { decodePeers, encodePeers, type PeersContent } from "../../../src/network/addresses/peersFile.ts"
import { endpoint, known, NOW, numbered, seeded } from "./support.ts"

const book = new AddressBook({ random: seeded(1) })
book.add([known("90.1.2.3:8334"), known("[2a02:1::1]:8334"), known("91.1.2.3:1")], { seed: "x9.seed." }, { now: NOW })
book.good(endpoint("91.1.2.3:1").address, 1, NOW)

const content: PeersContent = {
  book: book.toJSON(),
  bans: [{ subnet: "90.1.0.0/16", created: NOW, until: NOW + 5 }],
  anchors: [endpoint("90.1.2.3:8334"), endpoint("[2a02:1::1]:8334")]
}

const encode = (peers: PeersContent): string => Array.from(encodePeers(peers)).join("")

describe("peers.json", () => {
  it("peers.json round-trips", () => {
    assert.deepStrictEqual(Either.getOrThrow(decodePeers(encode(content))), content)
    const empty: PeersContent = { book: { key: "ab".repeat(16), addresses: [] }, bans: [], anchors: [] }
    assert.deepStrictEqual(Either.getOrThrow(decodePeers(encode(empty))), empty)
  })

  it("peers.json round-trips in several pieces", () => {
    const large = new AddressBook({ random: seeded(1) })
    for (let n = 0; n < 5000; n++) {
      large.add([{ address: numbered(n * 3001), port: 1, services: 9n, time: NOW }], numbered(n * 65_536), { now: NOW })
    }
    assert.isAbove(large.size, 4100)
    const peers = { ...content, book: large.toJSON() }
    assert.isAbove(Array.from(encodePeers(peers)).length, 9)
    assert.strictEqual(encode({ ...peers, book: large.snapshot() }), encode(peers))
    assert.deepStrictEqual(Either.getOrThrow(decodePeers(encode(peers))), peers)
  })

  it.each([499, 500, 501, 1000])("peers.json round-trips with %i rows, around the end of a piece", (count) => {
    const [row] = book.toJSON().addresses
    assert.isDefined(row)
    const addresses = Array.from({ length: count }, (_, n) => ({ ...row, port: n + 1 }))
    const peers = { ...content, book: { ...content.book, addresses } }
    assert.deepStrictEqual(Either.getOrThrow(decodePeers(encode(peers))), peers)
  })

  it("peers.json has at most two anchors", () => {
    const peers = { ...content, anchors: [...content.anchors, endpoint("92.1.2.3:1")] }
    assert.deepStrictEqual(Either.getOrThrow(decodePeers(encode(peers))).anchors, content.anchors)
  })

  const whole: unknown = JSON.parse(encode(content))
  const changed = (change: (file: Record<string, unknown>, row: Record<string, unknown>) => void): string => {
    const file = structuredClone(whole) as Record<string, unknown>
    const [row] = file["addresses"] as Array<Record<string, unknown>>
    change(file, row ?? {})
    return JSON.stringify(file)
  }

  it.each<[string, string]>([
    ["nothing", ""],
    ["no JSON", "{"],
    ["another value", "[]"],
    ["another version", changed((file) => file["version"] = 2)],
    ["no version", changed((file) => delete file["version"])],
    ["a short key", changed((file) => file["key"] = "ab")],
    ["no addresses", changed((file) => delete file["addresses"])],
    ["an unknown network", changed((_, row) => row["network"] = "torv2")],
    ["a long address", changed((_, row) => row["address"] = "a".repeat(81))],
    ["port 0", changed((_, row) => row["port"] = 0)],
    ["a port beyond the last one", changed((_, row) => row["port"] = 65_536)],
    ["services of more than 64 bits", changed((_, row) => row["services"] = String(2n ** 64n))],
    ["a negative time", changed((_, row) => row["time"] = -1)],
    ["a time with a fraction", changed((_, row) => row["time"] = 0.5)],
    ["an unknown bucket", changed((_, row) => row["buckets"] = [1024])],
    ["nine buckets", changed((_, row) => row["buckets"] = [1, 2, 3, 4, 5, 6, 7, 8, 9])],
    [
      "three anchors",
      changed((file) => {
        const anchors = file["anchors"] as Array<unknown>
        file["anchors"] = [...anchors, anchors[0]]
      })
    ],
    ["a ban without an end", changed((file) => file["bans"] = [{ subnet: "1.2.3.4/32", created: 1 }])]
  ])("peers.json is refused with %s", (_, text) => {
    assert.isTrue(Either.isLeft(decodePeers(text)))
  })

  it("peers.json is accepted up to every limit", () => {
    const text = changed((_, row) => {
      row["port"] = 65_535
      row["services"] = String(2n ** 64n - 1n)
      row["buckets"] = [0, 1, 2, 3, 4, 5, 6, 1023]
    })
    assert.isTrue(Either.isRight(decodePeers(text)))
  })

  it("peers.json is refused if truncated, and parsed or refused if any character is changed", () => {
    const text = encode(content)
    for (let at = 0; at < text.trimEnd().length; at += 7) assert.isTrue(Either.isLeft(decodePeers(text.slice(0, at))))
    const random = seeded(9)
    for (let i = 0; i < 300; i++) {
      const at = Math.floor(random() * text.length)
      const outcome = decodePeers(text.slice(0, at) + String.fromCharCode(32 + random() * 95) + text.slice(at + 1))
      if (Either.isRight(outcome)) AddressBook.fromJSON(outcome.right.book, { random })
    }
  })
})
