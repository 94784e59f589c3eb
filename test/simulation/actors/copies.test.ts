import { assert, describe, it } from "@effect/vitest"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { binaryString, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { ReplayModel } from "../holds/ReplayModel.ts"
import { copyFault, type EventCopy } from "./copies.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const byHash = new Map(blocks.map((block) => [binaryString(block.hash), block]))

const known = (hash: Uint8Array): Block =>
  byHash.get(binaryString(hash)) ?? assert.fail(`no block ${displayHash(hash)}`)

const model = new ReplayModel(regtestParams.network.genesisHash, known)

/** A copy of all names as of a height. */
const copyAt = (height: number): EventCopy["replica"] => {
  const { names } = model.moveTo(blocks[height]?.hash ?? assert.fail(`no block ${height}`))
  return {
    cursor: "0",
    names: new Map([...names.values()].map(({ name, txid, value }) => [
      toHex(name),
      { value: toHex(value), txid: displayHash(txid), expires_at: 0 }
    ]))
  }
}

describe("a copy by events", () => {
  it("has no fault if it is as the chain says", () => {
    const copy = copyAt(400)
    assert.isAbove(copy.names.size, 10)
    assert.isUndefined(copyFault(copy, model.state))
  })

  it("has one if an event is missing, was taken too much, or came from another branch", () => {
    const [before, copy] = [copyAt(300), copyAt(400)]
    assert.isDefined(copyFault(before, model.state))
    const [[name, record] = assert.fail("no names")] = copy.names
    const of = (change: (names: typeof copy.names) => unknown): string | undefined => {
      const names = new Map(copy.names)
      change(names)
      return copyFault({ cursor: "0", names }, model.state)
    }
    assert.match(of((names) => names.delete(name)) ?? "", /names of/)
    assert.match(of((names) => names.set("ff", record)) ?? "", /names of/)
    assert.match(of((names) => names.delete(name) && names.set("ff", record)) ?? "", /lacks/)
    assert.match(of((names) => names.set(name, { ...record, value: "00" })) ?? "", /the chain of height/)
    assert.match(of((names) => names.set(name, { ...record, txid: "00" })) ?? "", /the chain of height/)
  })
})
