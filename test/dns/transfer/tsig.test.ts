import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Redacted } from "effect"
import { readFileSync } from "node:fs"
import {
  checkTsig,
  readTsig,
  refuseTsig,
  type TransferKey,
  TSIG_ERRORS,
  tsigBytes,
  TsigChain
} from "../../../src/dns/transfer/tsig.ts"
import { RCODES } from "../../../src/dns/wire/codes.ts"
import { readMessage } from "../../../src/dns/wire/message.ts"
import { MessageWriter } from "../../../src/dns/wire/MessageWriter.ts"
import { type WireName, wireNameOfHost } from "../../../src/dns/wire/name.ts"
import { readQuery } from "../../../src/dns/wire/readQuery.ts"
import { type Bytes, fromHex, toHex } from "../../../src/protocol/bytes.ts"

interface Vector {
  readonly algorithm: "hmac-sha256" | "hmac-sha512"
  readonly query: string
  readonly signedQuery: string
  readonly answers: ReadonlyArray<string>
  readonly signedAnswers: ReadonlyArray<string>
}

const vectors: ReadonlyArray<Vector> = JSON.parse(
  readFileSync(new URL("../../fixtures/tsig/vectors.json", import.meta.url), "utf8")
)

const NOW = 1_795_000_000

/** As sockets give them: a part of a larger buffer. */
const bytes = (hex: string): Bytes => Buffer.concat([Buffer.alloc(7), fromHex(hex) ?? new Uint8Array()]).subarray(7)

const secretOf = (length: number, first = 0): Bytes => Uint8Array.from({ length }, (_, i) => first + i)

const keyOf = (
  algorithm: TransferKey["algorithm"],
  secret = secretOf(32),
  host = "transfer.example."
): TransferKey => ({
  name: wireNameOfHost(host),
  algorithm,
  secret: Redacted.make(secret)
})

const tsigAt = (message: Bytes): number => readMessage(message).additional.at(-1)?.at ?? -1

const check = (message: Bytes, keys: ReadonlyArray<TransferKey>, now = NOW) =>
  checkTsig({ bytes: message, tsigAt: tsigAt(message) }, keys, now)

const notAuth = (message: Bytes): Bytes =>
  new MessageWriter().start({
    id: (message[0] ?? 0) << 8 | (message[1] ?? 0),
    flags: 0x8000 | RCODES.NOTAUTH,
    question: { asked: "\x03bit\0" as WireName, type: 6, class: 1 }
  }).bytes()

/** The answer to a query that is refused: its response code, and its TSIG record. */
const refusal = (message: Bytes, keys: ReadonlyArray<TransferKey>, now = NOW) => {
  const verdict = check(message, keys, now)
  assert(verdict._tag === "Refused", verdict._tag)
  const answer = refuseTsig(notAuth(message), verdict, now)
  return { fault: verdict.fault, answer, rcode: readMessage(answer).rcode, record: readTsig(answer, tsigAt(answer)) }
}

describe.each(vectors)("TSIG with $algorithm", ({ algorithm, answers, query, signedAnswers, signedQuery }) => {
  const key = keyOf(algorithm)
  const other = keyOf(algorithm === "hmac-sha256" ? "hmac-sha512" : "hmac-sha256")

  it("signs queries and several answers as dnspython does", () => {
    assert.strictEqual(toHex(new TsigChain(key).sign(bytes(query), NOW)), signedQuery)
    const verdict = check(bytes(signedQuery), [other, key])
    assert(verdict._tag === "Signed")
    assert.deepStrictEqual(answers.map((answer) => toHex(verdict.chain.sign(bytes(answer), NOW))), signedAnswers)
    assert.strictEqual(signedQuery.length / 2 - query.length / 2, tsigBytes(key))
  })

  it("verifies the answers of another program", () => {
    const mac = readTsig(bytes(signedQuery), tsigAt(bytes(signedQuery)))?.mac
    const chain = new TsigChain(key, mac)
    for (const answer of signedAnswers.map(bytes)) {
      const at = tsigAt(answer)
      const record = readTsig(answer, at)
      assert(record !== undefined)
      assert.isTrue(chain.verifies(answer, at, record))
      assert.isFalse(chain.verifies(answer, at, record), "out of turn")
    }
  })

  it("finds each changed byte, and never throws", () => {
    const signed = bytes(signedQuery)
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(signed.length - 1), FastCheck.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = new Uint8Array(signed)
        changed[at] = (changed[at] ?? 0) ^ change
        const read = readQuery(changed)
        if (read._tag !== "Query" || read.query.tsigAt === undefined) return
        const verdict = checkTsig({ bytes: changed, tsigAt: read.query.tsigAt }, [key], NOW)
        // The id of the header may change on the way: the original one is signed. Letters of key names have no case.
        const isFree = at < 2 || (change === 0x20 && /[a-z]/i.test(String.fromCharCode(signed[at] ?? 0)))
        if (!isFree) assert.notStrictEqual(verdict._tag, "Signed", `byte ${at}`)
      })
    )
  })

  it("says BADKEY, BADSIG and BADTRUNC without a signature", () => {
    for (
      const [keys, fault] of [
        [[], "BADKEY"],
        [[other], "BADKEY"],
        [[keyOf(algorithm, secretOf(32), "another.example.")], "BADKEY"],
        [[keyOf(algorithm, secretOf(32, 1))], "BADSIG"]
      ] as const
    ) {
      const { fault: found, rcode, record } = refusal(bytes(signedQuery), keys)
      assert.deepStrictEqual([found, rcode, record?.error, record?.mac.length, record?.time], [
        fault,
        RCODES.NOTAUTH,
        TSIG_ERRORS[fault],
        0,
        NOW
      ])
    }
    assert.strictEqual(refusal(shorterMac(bytes(signedQuery), 10), [key]).fault, "BADTRUNC")
  })

  it("says BADTIME with a signature and the own time beyond 300 seconds", () => {
    for (const now of [NOW - 300, NOW + 300]) assert.strictEqual(check(bytes(signedQuery), [key], now)._tag, "Signed")
    for (const now of [NOW - 301, NOW + 301]) {
      const { answer, fault, rcode, record } = refusal(bytes(signedQuery), [key], now)
      assert(record !== undefined)
      assert.deepStrictEqual([fault, rcode, record.error, record.time], ["BADTIME", 9, TSIG_ERRORS.BADTIME, NOW])
      assert.strictEqual(new DataView(record.other.buffer).getUint32(2), now)
      const mac = readTsig(bytes(signedQuery), tsigAt(bytes(signedQuery)))?.mac
      assert.isTrue(new TsigChain(key, mac).verifies(answer, tsigAt(answer), record))
    }
  })
})

/** The message with so many bytes of its MAC. */
const shorterMac = (message: Bytes, length: number): Bytes => {
  const at = tsigAt(message)
  const record = readTsig(message, at)
  assert(record !== undefined)
  const lengthAt = message.length - 6 - record.mac.length - 2
  const shorter = new Uint8Array([...message.subarray(0, lengthAt + 2 + length), ...message.subarray(-6)])
  const view = new DataView(shorter.buffer)
  view.setUint16(lengthAt, length)
  const dataLengthAt = at + record.keyName.length + 8
  view.setUint16(dataLengthAt, view.getUint16(dataLengthAt) - record.mac.length + length)
  return shorter
}
