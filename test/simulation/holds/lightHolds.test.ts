import { assert, describe, it } from "@effect/vitest"
import type { LightRecord } from "../../../src/light/WindowReader.ts"
import { type NameKey, nameKey } from "../../../src/protocol/keys.ts"
import { listFault } from "./lightHolds.ts"
import type { ModelOperation } from "./ReplayModel.ts"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const said = (name: string, height: number): ModelOperation => ({
  name: utf8(name),
  height,
  position: 0,
  txid: new Uint8Array(32).fill(height),
  vout: 0,
  amount: 1,
  value: utf8("value"),
  address: new Uint8Array(22),
  rand: undefined
})

const listed = ({ rand: _, position: __, ...operation }: ModelOperation): LightRecord => ({
  record: { ...operation, op: "name_update" },
  proof: "work"
})

/** The chain at height 100, where names older than 30 blocks have expired. */
const fault = (chain: ReadonlyArray<ModelOperation>, window: ReadonlyArray<LightRecord>): string | undefined =>
  listFault(window, {
    height: 100,
    names: new Map<NameKey, ModelOperation>(chain.map((each) => [nameKey(each.name), each]))
  })

describe("the names of a light node and those of the chain", () => {
  const [old, young] = [said("d/old", 60), said("d/young", 90)]

  it("are equal whether or not the window lists what expired", () => {
    assert.isUndefined(fault([old, young], [listed(young)]))
    assert.isUndefined(fault([old, young], [listed(old), listed(young)]))
  })

  it("differ by one that is missing, of another block, invented, or alive in the window only", () => {
    assert.include(fault([old, young], []), "lacks d/young")
    assert.include(fault([young], [listed(said("d/young", 80))]), "d/young of height 80, not 90")
    assert.include(fault([young], [listed(young), listed(said("d/new", 95))]), "d/new, which the chain lacks")
    assert.include(fault([old, young], [listed(young), listed(said("d/old", 95))]), "d/old of height 95, which expired")
  })
})
