import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { concat, equal, toHex } from "../../src/protocol/bytes.ts"
import {
  addressScript,
  nameCommitment,
  type NameOperation,
  nameScript,
  parseNameScript
} from "../../src/protocol/nameOperation.ts"
import { bytesOf, hex } from "../support/bytes.ts"
import { fixtureText, hasShared } from "../support/fixtures.ts"

const A = "76a914751e76e8199196d454941c45d1b3a323f1433bd688ac"
const KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
const TWENTY = "11".repeat(20)

/** A parsed script as text: operation, arguments in script order, address. */
const parsed = (script: Uint8Array): string => {
  const result = parseNameScript(script)
  if (result === undefined) return "none"
  const { address, operation } = result
  const args = operation.op === "name_new"
    ? [operation.commitment]
    : operation.op === "name_update"
    ? [operation.name, operation.value]
    : [operation.name, operation.rand, operation.value]
  return [operation.op, ...args.map(toHex), `-> ${toHex(address)}`].join(" ")
}

describe("the table of reference/protocol.md 4.2", () => {
  it.each([
    [`53 0161 0162 6d75 ${A}`, `name_update 61 62 -> ${A}`],
    [`53 0161 0162 61 ${A}`, `name_update 61 62 -> ${A}`],
    [`53 0161 0162 6d75 75 6d 61 61 ${A}`, `name_update 61 62 -> ${A}`],
    [`53 4c0161 0162 6d75 ${A}`, `name_update 61 62 -> ${A}`],
    [`53 4d010061 4e0100000062 6d75 ${A}`, `name_update 61 62 -> ${A}`],
    [`53 0161 00 6d75 ${A}`, `name_update 61  -> ${A}`],
    [`53 51 0161 75 ${A}`, "none"],
    [`53 4f 0161 75 ${A}`, "none"],
    [`53 50 0161 75 ${A}`, "none"],
    [`53 0161 0162 ${A}`, "none"],
    [`53 0161 0162 0163 6d75 ${A}`, "none"],
    [`53 0161 6d75 ${A}`, "none"],
    [`51 13 ${"22".repeat(19)} 6d ${A}`, `name_new ${"22".repeat(19)} -> ${A}`],
    [`51 00 6d ${A}`, `name_new  -> ${A}`],
    [`51 6d ${A}`, "none"],
    [`51 0161 0162 6d ${A}`, "none"],
    ["51 01aa 75", "name_new aa -> 75"],
    ["53 0161 0162 6d75", "name_update 61 62 -> 75"],
    [`53 0161 0162 6d75 21 ${KEY} ac`, "name_update 61 62 -> 98ac"],
    [`53 0161 0162 6d75 01 a914 ${TWENTY} 87`, `name_update 61 62 -> a914${TWENTY}87`],
    ["53 0161 0162 6d75 05aabb", "name_update 61 62 -> 05aabb"],
    ["53 0161 0162 6d75 4c05aabb", "name_update 61 62 -> 05aabb"],
    ["53 0161 0162 6d75 4d0500aabb", "name_update 61 62 -> 00aabb"],
    ["53 0161 0162 6d75 4e05000000aabb", "name_update 61 62 -> 00aabb"],
    // A push with a truncated length: only the opcode was read.
    ["53 0161 0162 6d75 4c", "name_update 61 62 -> 4c"],
    ["53 0161 0162 6d75 4d05", "name_update 61 62 -> 4d05"],
    ["53 0161 0162 6d75 4e050000", "name_update 61 62 -> 4e050000"],
    [`52 0161 0162 0163 6d6d ${A}`, `name_firstupdate 61 62 63 -> ${A}`],
    [`52 0161 00 00 75 ${A}`, `name_firstupdate 61   -> ${A}`],
    [`52 0161 0162 6d75 ${A}`, "none"],
    [`52 0161 0162 0163 0164 6d6d ${A}`, "none"],
    [`54 0161 0162 6d75 ${A}`, "none"],
    [`50 0161 6d ${A}`, "none"],
    // The opcode is read as an instruction: a push in its place is not an opcode, whatever its data.
    [`0153 0161 0162 6d75 ${A}`, "none"],
    ["", "none"],
    ["51", "none"],
    ["53", "none"],
    ["53 0161 01", "none"],
    ["53 0161 0162", "none"],
    [`51 20 ${"33".repeat(32)}`, "none"],
    [`51 21 ${KEY} 51 ae`, "none"],
    [`52 21 ${KEY} 21 ${KEY} 52 ae`, "none"],
    [A, "none"]
  ])("%s is %s", (script, expected) => {
    const bytes = hex(script)
    assert.strictEqual(parsed(bytes), expected)
    assert.strictEqual(
      toHex(addressScript(bytes)),
      parseNameScript(bytes) === undefined
        ? toHex(bytes)
        : expected.slice(expected.indexOf("->") + 3)
    )
  })
})

describe("the vectors of reference/protocol.md 4.3", () => {
  const address = hex(A)
  const name = new TextEncoder().encode("d/example")
  const value = new TextEncoder().encode("{\"ip\":\"192.0.2.1\"}")
  const rand = hex("000102030405060708090a0b0c0d0e0f10111213")
  const commitment = hex("a41efaccecd4688ba2034eb12e9b377216447a88")

  it("the commitment is HASH160 of salt and name, in this order", () => {
    assert.deepStrictEqual(nameCommitment(rand, name), commitment)
    assert.notDeepEqual(nameCommitment(name, rand), commitment)
    // d/bitcoin on the main network (A.1).
    assert.strictEqual(
      toHex(nameCommitment(hex("e9423b3c569a3bb000"), hex("642f626974636f696e"))),
      "47dd31eb02f8307b3f08d455fea850dfe66a6157"
    )
  })

  it.each<[string, NameOperation]>([
    [`5114a41efaccecd4688ba2034eb12e9b377216447a886d${A}`, { op: "name_new", commitment }],
    [
      "5209642f6578616d706c6514000102030405060708090a0b0c0d0e0f10111213127b226970223a223139322e302e322e31227d6d6d" + A,
      { op: "name_firstupdate", name, rand, value }
    ],
    [`5309642f6578616d706c65127b226970223a223139322e302e322e31227d6d75${A}`, { op: "name_update", name, value }],
    [`5309642f6578616d706c65006d75${A}`, { op: "name_update", name, value: new Uint8Array(0) }]
  ])("%s", (script, operation) => {
    assert.strictEqual(toHex(nameScript(operation, address)), script)
    assert.strictEqual(parsed(hex(script)), parsed(nameScript(operation, address)))
  })
})

describe.skipIf(!hasShared)("the reference node's transaction tool (core/util)", () => {
  it.each(
    [
      ["name_new", { op: "name_new", commitment: nameCommitment(hex("1234"), hex("642f666f6f626172")) }],
      ["name_firstupdate", {
        op: "name_firstupdate",
        name: hex("642f666f6f626172"),
        rand: hex("1234"),
        value: hex("76616c7565")
      }],
      ["name_update", { op: "name_update", name: hex("642f666f6f626172"), value: hex("76616c7565") }]
    ] satisfies ReadonlyArray<[string, NameOperation]>
  )("%s", (file, operation) => {
    const script = nameScript(operation, hex("76a9141fc11f39be1729bf973a7ab6a615ca4729d6457488ac"))
    assert.include(fixtureText(`core/util/${file}.hex`), toHex(script))
  })
})

const text = FastCheck.oneof(bytesOf(0, 80), bytesOf(250, 260))
const operations: FastCheck.Arbitrary<NameOperation> = FastCheck.oneof(
  FastCheck.record({ op: FastCheck.constant("name_new" as const), commitment: text }),
  FastCheck.record({ op: FastCheck.constant("name_firstupdate" as const), name: text, rand: text, value: text }),
  FastCheck.record({ op: FastCheck.constant("name_update" as const), name: text, value: text })
)
const addresses = FastCheck.oneof(
  bytesOf(20).map((hash) => concat(hex("76a914"), hash, hex("88ac"))),
  bytesOf(20).map((hash) => concat(hex("a914"), hash, hex("87"))),
  bytesOf(20).map((hash) => concat(hex("0014"), hash)),
  bytesOf(32).map((hash) => concat(hex("5120"), hash))
)

/** Whether two operations are equal. */
const same = (a: NameOperation, b: NameOperation): boolean => {
  const parts = (operation: NameOperation): ReadonlyArray<Uint8Array> =>
    operation.op === "name_new"
      ? [operation.commitment]
      : operation.op === "name_update"
      ? [operation.name, operation.value]
      : [operation.name, operation.rand, operation.value]
  const [one, other] = [parts(a), parts(b)]
  return a.op === b.op && one.every((part, i) => equal(part, other[i] ?? hex("ff")))
}

it("a built script is parsed again", () => {
  FastCheck.assert(FastCheck.property(operations, addresses, (operation, address) => {
    const result = parseNameScript(nameScript(operation, address))
    assert.isDefined(result)
    assert.isTrue(result !== undefined && same(result.operation, operation))
    assert.strictEqual(toHex(result?.address ?? hex("")), toHex(address))
  }))
})

/** The result of reading an instruction: whether it succeeds, and the next position (S2). */
const readInstruction = (
  script: Uint8Array,
  at: number
): { ok: boolean; opcode: number; data: Uint8Array; at: number } => {
  const none = new Uint8Array(0)
  const opcode = script[at]
  if (opcode === undefined) return { ok: false, opcode: 0xff, data: none, at }
  let position = at + 1
  let size = opcode <= 0x4b ? opcode : 0
  if (opcode >= 0x4c && opcode <= 0x4e) {
    const width = 2 ** (opcode - 0x4c)
    const digits = script.subarray(position, position + width)
    if (digits.length < width) return { ok: false, opcode, data: none, at: position }
    size = digits.reduceRight((sum, digit) => 256 * sum + digit, 0)
    position += width
  }
  const ok = script.length - position >= size
  return { ok, opcode, data: script.slice(position, position + size), at: ok ? position + size : position }
}

/** Rules S1 to S6, one after the other, without optimizations. */
const model = (script: Uint8Array): string => {
  const first = readInstruction(script, 0)
  if (!first.ok) return "none"
  const args: Array<Uint8Array> = []
  let read = first
  for (;;) {
    read = readInstruction(script, read.at)
    if (!read.ok) return "none"
    if ([0x75, 0x6d, 0x61].includes(read.opcode)) break
    if (read.opcode > 0x4e) return "none"
    args.push(read.data)
  }
  let position = read.at
  for (let ok = true; ok && [0x75, 0x6d, 0x61].includes(read.opcode);) {
    read = readInstruction(script, position)
    ok = read.ok
    position = read.at
  }
  const kind = [["name_new", 0x51, 1], ["name_firstupdate", 0x52, 3], ["name_update", 0x53, 2]].find(
    ([, opcode, count]) => opcode === first.opcode && count === args.length
  )
  if (kind === undefined) return "none"
  return [kind[0], ...args.map(toHex), `-> ${toHex(script.subarray(position - 1))}`].join(" ")
}

it("the parser agrees with the literal rules on scripts that are nearly valid", () => {
  const piece = FastCheck.oneof(
    FastCheck.constantFrom(...["00", "0161", "026162", "4c0161", "4c00", "4d0100aa", "4e01000000aa"].map(hex)),
    FastCheck.constantFrom(
      ...["75", "6d", "61", "75", "6d", "51", "53", "ac", "4c", "4d", "4e", "05", "4cff"].map(hex)
    ),
    bytesOf(1)
  )
  const head = FastCheck.constantFrom(...["51", "52", "53", "53", "54", "00"].map(hex))
  FastCheck.assert(
    FastCheck.property(head, FastCheck.array(piece, { maxLength: 9 }), (head, pieces) => {
      const script = concat(head, ...pieces)
      assert.strictEqual(parsed(script), model(script))
    }),
    { numRuns: 5000 }
  )
})

it("the parser never throws, and the address is always the end of the script", () => {
  FastCheck.assert(
    FastCheck.property(bytesOf(0, 60), FastCheck.integer({ min: 0x51, max: 0x53 }), (bytes, opcode) => {
      const script = concat(Uint8Array.of(opcode), bytes)
      assert.strictEqual(parsed(script), model(script))
      assert.strictEqual(parsed(bytes), model(bytes))
      assert.isTrue(toHex(script).endsWith(toHex(addressScript(script))))
    }),
    { numRuns: 2000 }
  )
})
