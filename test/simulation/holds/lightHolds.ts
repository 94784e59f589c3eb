import * as Effect from "effect/Effect"
import type { LightNode } from "../../../src/light/LightPart.ts"
import { LightPart } from "../../../src/light/LightPart.ts"
import type { LightRecord } from "../../../src/light/WindowReader.ts"
import { type Bytes, displayHash, equal } from "../../../src/protocol/bytes.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import { toldIn } from "../actors/Told.ts"
import { isWhole } from "../plan.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, seen, serviceOf, settledTip } from "./chains.ts"
import { isExpiredAt, type ModelOperation, type ModelState } from "./ReplayModel.ts"

/** Minutes until a light node has what the others have. */
const PATIENCE = 10

const windowOf = (node: WorldNode): LightNode | undefined => serviceOf(node, LightPart)?.current()

const isSame = ({ record }: LightRecord, said: ModelOperation): boolean =>
  record.height === said.height && record.vout === said.vout && equal(record.txid, said.txid) &&
  equal(record.value, said.value)

/** What a window says of a name: the last operation, or nothing if it lacks blocks. An expired one may be too old for it. */
const nameFault = (found: LightRecord | undefined, said: ModelOperation, { height }: ModelState) => {
  if (found === undefined) return undefined
  return isSame(found, said)
    ? undefined
    : `at height ${height} it has ${nameField(said.name)} of height ${found.record.height}, not of ${said.height}`
}

class Windows {
  compared = 0
  private readonly world: World
  private readonly looked = new Map<string, string>()

  constructor(world: World) {
    this.world = world
  }

  /** Compares all names once for each tip. */
  check(node: WorldNode): string | undefined {
    const light = windowOf(node)
    const tip = light === undefined ? undefined : seen(node, light.progress)?.tip
    if (light === undefined || tip === undefined) return undefined
    const key = `${node.life} ${displayHash(tip.hash)}`
    if (this.looked.get(node.name) === key) return undefined
    this.looked.set(node.name, key)
    return comparedAt(this.world, tip.hash, ({ state }) => {
      this.compared++
      for (const said of state.names.values()) {
        const fault = nameFault(seen(node, light.look(said.name)), said, state)
        if (fault !== undefined) return fault
      }
      return undefined
    })
  }
}

/** Whether a light node and a whole one have the same tip, and the light one all names up to it, with signatures. */
const arrived = (node: WorldNode, light: LightNode, hash: Bytes): boolean => {
  const progress = seen(node, light.progress)
  return progress !== undefined && progress.phase === "ready" && progress.unchecked === 0 &&
    equal(progress.tip.hash, hash) && seen(node, light.complete) === true
}

/** A light node has each living name as the whole chain has it, and no other. */
const equalFault = (node: WorldNode, light: LightNode, { height, names }: ModelState): string | undefined => {
  for (const said of names.values()) {
    const found = seen(node, light.look(said.name))
    if (isExpiredAt(said.height, height)) continue
    if (found === undefined) return `it lacks ${nameField(said.name)} of height ${said.height}`
    if (!isSame(found, said)) {
      return `it has ${nameField(said.name)} of height ${found.record.height}, not ${said.height}`
    }
  }
  return undefined
}

const endFault = (world: World, node: WorldNode): Effect.Effect<string | undefined> =>
  Effect.gen(function*() {
    const light = windowOf(node)
    const [whole] = world.whole
    if (light === undefined || whole === undefined) return `${node.name} (${node.state}) has no window`
    for (let minute = 0;; minute++) {
      const tip = settledTip(whole)
      if (tip !== undefined && arrived(node, light, tip.hash)) {
        const fault = comparedAt(world, tip.hash, ({ state }) => equalFault(node, light, state))
        return fault === undefined ? undefined : `${node.name} at height ${tip.height}: ${fault}`
      }
      if (minute === PATIENCE) break
      yield* Effect.sleep("1 minute")
    }
    const progress = seen(node, light.progress)
    return `${node.name} is at ${progress?.tip.height} (${progress?.phase}, ${progress?.unchecked} unchecked), ` +
      `the chain at ${settledTip(whole)?.height}`
  })

/** Light nodes have the names of the whole chain, each at its own tip while the world runs, and all at the end. */
export const lightHolds: Property = {
  name: "light nodes have the names of the chain",
  check: (world) => {
    const windows = new Windows(world)
    const nodes = world.nodes.filter((node) => !isWhole(node.plan))
    return {
      every: 500,
      during: () => firstFault(nodes, (node) => windows.check(node)),
      atEnd: () =>
        Effect.gen(function*() {
          for (const node of nodes) {
            const fault = yield* endFault(world, node)
            if (fault !== undefined) return fault
          }
          if (nodes.length > 0 && windows.compared === 0) return "no window was compared"
          const { names, thefts } = toldIn(world)
          const stolen = names.filter(({ record }) => record !== undefined && thefts.has(record.txid)).length
          world.note("light nodes", { compared: windows.compared, thefts: thefts.size, stolen })
          return undefined
        })
    }
  }
}
