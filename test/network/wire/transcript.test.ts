import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { formatEndpoint } from "../../../src/network/wire/addressText.ts"
import { ProtocolViolation } from "../../../src/network/wire/codec.ts"
import {
  finishReconstruction,
  makeCompactBlock,
  shortId,
  shortIdKey,
  startReconstruction
} from "../../../src/network/wire/compactBlock.ts"
import { encodeFrame, FrameParser } from "../../../src/network/wire/framing.ts"
import { decodeMessage, encodePayload, type Message, payloadLimit } from "../../../src/network/wire/message.ts"
import type { CmpctBlock } from "../../../src/network/wire/messages/compact.ts"
import { isRoutable } from "../../../src/network/wire/netGroup.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { binaryString, concat, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { decodeError, hex } from "../../support/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { fixtureText, hasShared } from "../../support/fixtures.ts"

/** The recorded sessions with the reference node (fixtures/p2p-transcript). */

interface Line {
  readonly direction: "send" | "recv" | "event"
  readonly command: string
  readonly payloadHex: string
  readonly payloadLength?: number
  readonly session?: string
  readonly peer?: string
}

interface Recorded {
  readonly direction: "send" | "recv"
  readonly command: string
  readonly payload: Uint8Array
  readonly session: string | undefined
  readonly peer: string | undefined
}

const SESSIONS = ["serve", "relay", "sync", "old-protocol", "misbehaviour"]

/** A payload that is truncated in the recording repeats one entry. */
const wholePayload = ({ payloadHex, payloadLength }: Line): Uint8Array => {
  if (!payloadHex.endsWith("...")) return hex(payloadHex)
  const payload = new Uint8Array(payloadLength ?? assert.fail("no length")).fill(1)
  payload.set(hex(payloadHex.slice(0, -3)))
  return payload
}

const readSession = (name: string): ReadonlyArray<Recorded> =>
  fixtureText(`p2p-transcript/${name}.jsonl`).trimEnd().split("\n").flatMap((text) => {
    const line: Line = JSON.parse(text)
    const { command, direction, peer, session } = line
    return direction === "event" ? [] : [{ command, direction, payload: wholePayload(line), session, peer }]
  })

/** The two violations of the sessions that are detected when decoding a payload. */
const isOffence = ({ command, session }: Recorded): boolean =>
  (session === "headers-too-many" && command === "headers") || (session === "inv-too-many" && command === "inv")

const decode = ({ command, payload }: Recorded): Message => decodeMessage(command, payload)

describe.skipIf(!hasShared)("the recorded sessions", () => {
  it.each(SESSIONS)("%s: every message round-trips byte for byte", (name) => {
    const session = readSession(name)
    assert.isAbove(session.length, 10)
    for (const recorded of session) {
      if (isOffence(recorded)) continue
      const message = decode(recorded)
      const known = recorded.command === "xyzzy" ? "unknown" : recorded.command
      assert.strictEqual(message.type, known)
      assert.strictEqual(toHex(concat(...encodePayload(message))), toHex(recorded.payload), recorded.command)
    }
  })

  it("the node's misbehaviour verdicts are found, and no others", () => {
    const offences = readSession("misbehaviour").filter(isOffence)
    assert.lengthOf(offences, 2)
    for (const offence of offences) {
      const error = decodeError(() => decode(offence))
      if (!(error instanceof ProtocolViolation)) return assert.fail(error.message)
      assert.strictEqual(error.consequence, "misbehaving")
    }
  })

  it.each(SESSIONS)("%s: the streams give the same frames for any chunk sizes", (name) => {
    const session = readSession(name)
    for (const direction of ["send", "recv"]) {
      const said = session.filter((each) => each.direction === direction)
      const stream = concat(...said.map(({ command, payload }) => encodeFrame(regtest.magic, command, [payload])))
      const sizes = FastCheck.sample(FastCheck.integer({ min: 1, max: 3000 }), 500)
      const parser = new FrameParser(regtest.magic, { limitOf: payloadLimit })
      let next = 0
      for (let at = 0, i = 0; at < stream.length; i++) {
        const size = sizes[i % sizes.length] ?? 1
        for (const framed of parser.push(stream.subarray(at, at + size))) {
          const expected = said[next++]
          if (framed.type !== "frame" || expected === undefined) return assert.fail(framed.type)
          assert.strictEqual(framed.command, expected.command)
          assert.isTrue(Buffer.from(framed.payload).equals(expected.payload))
        }
        at += size
      }
      assert.strictEqual(next, said.length)
      assert.isTrue(parser.idle)
    }
  })

  it("the versions are those of reference/protocol.md 6.2 and 6.3", () => {
    const versions = readSession("serve").filter(({ command }) => command === "version").map(decode)
    const [ours, theirs] = versions
    if (ours?.type !== "version" || theirs?.type !== "version") return assert.fail("no versions")
    assert.strictEqual(ours.version, 110_016)
    assert.strictEqual(formatEndpoint(ours.receiver.address, ours.receiver.port), "127.0.0.1:19584")
    assert.strictEqual(theirs.version, 110_016)
    assert.strictEqual(theirs.services, 0xc0dn)
    assert.strictEqual(theirs.userAgent, "/Satoshi:31.1.0/")
    assert.strictEqual(theirs.startHeight, 600)
    assert.isTrue(theirs.relay)
  })

  it.each(["serve", "old-protocol"])("%s: the generated addresses are decoded", (name) => {
    const [message] = readSession(name).filter(({ command }) => command.startsWith("addr")).map(decode)
    assert.strictEqual(message?.type, name === "serve" ? "addrv2" : "addr")
    if (message?.type !== "addrv2" && message?.type !== "addr") return
    assert.isAbove(message.addresses.length, 10)
    for (const { address, port } of message.addresses) {
      if (!isRoutable(address)) return assert.fail("not routable")
      assert.match(formatEndpoint(address, port), /^(\d+\.\d+\.\d+\.\d+|\[2001:4860:[0-9a-f:]+\]):8334$/)
    }
  })
})

describe.skipIf(!hasShared)("the recorded compact blocks", () => {
  const chain = (): ReadonlyMap<string, Block> =>
    new Map(fixtureBlocks("regtest-names/blocks.dat").map((block) => [binaryString(block.hash), block]))

  const ofType = (name: string, type: "cmpctblock" | "blocktxn", peer?: string): ReadonlyArray<Message> =>
    readSession(name).filter((each) => each.command === type && (peer === undefined || each.peer === peer)).map(decode)

  const compactOf = (message: Message | undefined): CmpctBlock =>
    message?.type === "cmpctblock" ? message : assert.fail("no compact block")

  it("the short ids match ours, for headers with and without a merged-mining proof", () => {
    const blocks = chain()
    const compacts = ofType("serve", "cmpctblock").map(compactOf)
    assert.deepStrictEqual(compacts.map(({ header }) => header.auxpow !== undefined), [false, false, true, true])
    for (const compact of compacts) {
      const block = blocks.get(binaryString(compact.header.header.hash)) ?? assert.fail("not in the chain")
      const key = shortIdKey(compact.header, compact.nonce)
      assert.isAbove(compact.shortIds.length, 0)
      assert.deepStrictEqual(block.transactions.slice(1).map(({ wtxid }) => shortId(key, wtxid)), compact.shortIds)
      assert.deepStrictEqual(
        toHex(concat(...encodePayload(makeCompactBlock(block, compact.nonce)))),
        toHex(concat(...encodePayload(compact)))
      )
    }
  })

  it("compact blocks become the blocks of the chain when all transactions are known", () => {
    const blocks = chain()
    const known = [...blocks.values()].flatMap(({ transactions }) => transactions)
    for (const compact of ofType("serve", "cmpctblock").map(compactOf)) {
      const start = startReconstruction(compact, known)
      if (start.type !== "ok") return assert.fail(start.type)
      assert.deepStrictEqual(start.partial.missing, [])
      const done = finishReconstruction(start.partial, [], true)
      if (done.type !== "ok") return assert.fail(done.type)
      const block = blocks.get(binaryString(done.block.hash)) ?? assert.fail("not in the chain")
      assert.strictEqual(toHex(done.block.bytes), toHex(block.bytes))
    }
  })

  it("compact blocks are completed with blocktxn, and the node's own are complete then", () => {
    const answers = ofType("relay", "blocktxn")
    const fromUs = ofType("relay", "cmpctblock", "A").map(compactOf)
    const fromNode = ofType("relay", "cmpctblock", "B").map(compactOf)
    assert.lengthOf(fromUs, 6)
    assert.lengthOf(fromNode, 6)
    for (const [i, compact] of fromUs.entries()) {
      const answer = answers[i]
      if (answer?.type !== "blocktxn") return assert.fail("no answer")
      const prefilled = new Set(compact.prefilled.map(({ index }) => index))
      const all = compact.shortIds.length + compact.prefilled.length
      // The node requested all transactions that it lacked. With these as candidates, only those that it had are
      // missing.
      const start = startReconstruction(compact, answer.transactions)
      if (start.type !== "ok") return assert.fail(start.type)
      assert.strictEqual(start.partial.missing.length, all - prefilled.size - answer.transactions.length)
      const known: ReadonlyArray<Transaction> = readSession("relay").filter(({ command }) => command === "tx")
        .map(decode).flatMap((message) => message.type === "tx" ? [message.transaction] : [])
      const again = startReconstruction(compact, [...known, ...answer.transactions])
      if (again.type !== "ok") return assert.fail(again.type)
      const done = finishReconstruction(again.partial, [], true)
      if (done.type !== "ok") return assert.fail(`${displayHash(compact.header.header.hash)}: ${done.type}`)
      const theirs = fromNode.find(({ header }) => toHex(header.header.hash) === toHex(done.block.hash))
      assert.deepStrictEqual(
        encodePayload(makeCompactBlock(done.block, theirs?.nonce ?? 0n)).map(toHex).join(""),
        encodePayload(theirs ?? assert.fail("not passed on")).map(toHex).join("")
      )
    }
  })
})
