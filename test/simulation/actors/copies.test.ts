import { assert, describe, it } from "@effect/vitest"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { binaryString, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { isExpiredAt, ReplayModel } from "../holds/ReplayModel.ts"
import { copyFault, type EventCopy, newCopy, takeLife } from "./copies.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const byHash = new Map(blocks.map((block) => [binaryString(block.hash), block]))

const known = (hash: Uint8Array): Block =>
  byHash.get(binaryString(hash)) ?? assert.fail(`no block ${displayHash(hash)}`)

const model = new ReplayModel(regtestParams.network.genesisHash, known)

/** A copy of all names as of a height. */
const copyAt = (height: number): EventCopy => {
  const { names } = model.moveTo(blocks[height]?.hash ?? assert.fail(`no block ${height}`))
  const copy = newCopy("a node")
  for (const said of names.values()) {
    const name = toHex(said.name)
    copy.replica.names.set(name, { value: toHex(said.value), txid: displayHash(said.txid), expires_at: 0 })
    if (isExpiredAt(said.height, height)) copy.expired.add(name)
  }
  return copy
}

describe("a copy by events", () => {
  it("has no fault if it is as the chain says", () => {
    const copy = copyAt(400)
    assert.isAbove(copy.replica.names.size, 10)
    assert.isUndefined(copyFault(copy, model.state))
  })

  it("has one if an event is missing, was taken too much, or came from another branch", () => {
    const [before, copy] = [copyAt(300), copyAt(400)]
    assert.isDefined(copyFault(before, model.state))
    const [[name, record] = assert.fail("no names")] = copy.replica.names
    const of = (change: (names: EventCopy["replica"]["names"]) => unknown): string | undefined => {
      const names = new Map(copy.replica.names)
      change(names)
      return copyFault({ ...copy, replica: { cursor: "0", names } }, model.state)
    }
    assert.match(of((names) => names.delete(name)) ?? "", /names of/)
    assert.match(of((names) => names.set("ff", record)) ?? "", /names of/)
    assert.match(of((names) => names.delete(name) && names.set("ff", record)) ?? "", /lacks/)
    assert.match(of((names) => names.set(name, { ...record, value: "00" })) ?? "", /the chain of height/)
    assert.match(of((names) => names.set(name, { ...record, txid: "00" })) ?? "", /the chain of height/)
  })

  it("has one if it takes a living name for an expired one, or the reverse", () => {
    const copy = copyAt(400)
    const [over = assert.fail("no name has expired")] = copy.expired
    const living = [...copy.replica.names.keys()].find((name) => !copy.expired.has(name)) ?? assert.fail("none lives")
    assert.match(copyFault({ ...copy, expired: new Set([...copy.expired, living]) }, model.state) ?? "", /as expired/)
    const fewer = new Set([...copy.expired].filter((name) => name !== over))
    assert.match(copyFault({ ...copy, expired: fewer }, model.state) ?? "", /as living/)
  })

  it("has a name as expired from its event on, until a record brings it back", () => {
    const copy = newCopy("a node")
    const record = { expires_at: 40 }
    const isExpired = (event: Parameters<typeof takeLife>[1]): boolean => {
      takeLife(copy, event)
      return copy.expired.has("aa")
    }
    const expired = { type: "expired", height: 40, name: "aa", record }
    const undone = (height: number, before: typeof record | null) => ({
      type: "undone",
      height,
      names: [{ name: "aa", record: before }]
    })
    assert.isTrue(isExpired(expired))
    assert.isFalse(isExpired({ type: "registered", height: 45, name: "aa", record: { expires_at: 75 } }))
    assert.isTrue(isExpired(undone(45, record)))
    assert.isTrue(isExpired({ type: "block", height: 46 }))
    assert.isFalse(isExpired(undone(40, record)))
    assert.isTrue(isExpired(expired))
    assert.isFalse(isExpired(undone(10, null)))
  })
})
