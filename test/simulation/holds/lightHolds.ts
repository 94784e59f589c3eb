import * as Effect from "effect/Effect"
import type { LightNode } from "../../../src/light/LightPart.ts"
import { LightPart } from "../../../src/light/LightPart.ts"
import type { LightRecord } from "../../../src/light/WindowReader.ts"
import { type Bytes, displayHash, equal } from "../../../src/protocol/bytes.ts"
import { nameKey } from "../../../src/protocol/keys.ts"
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

/** The last operations on all names of a window; `undefined` while it cannot answer. */
const listed = (node: WorldNode, light: LightNode): ReadonlyArray<LightRecord> | undefined => {
  const operations = seen(node, light.operationsFrom(0))
  if (operations === undefined) return undefined
  const names = new Map(operations.map(({ name }) => [nameKey(name), name]))
  return [...names.values()].flatMap((name) => seen(node, light.look(name)) ?? [])
}

/** Whether a window says of a name what the chain says. It may say nothing while it lacks blocks. */
const nameFault = (found: LightRecord, { height, names }: ModelState): string | undefined => {
  const said = names.get(nameKey(found.record.name))
  if (said !== undefined && isSame(found, said)) return undefined
  const where = said === undefined ? "which the chain lacks" : `not of ${said.height}`
  return `at height ${height} it has ${nameField(found.record.name)} of height ${found.record.height}, ${where}`
}

/** Whose answers: those of a light node, or of one that is whole, perhaps after a window. */
const kindOf = ({ plan }: WorldNode): "light" | "whole" => isWhole(plan) ? "whole" : "light"

class Windows {
  /** Comparisons by kind of node. */
  readonly compared = { light: 0, whole: 0 }
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
      this.compared[kindOf(node)]++
      for (const found of listed(node, light) ?? []) {
        const fault = nameFault(found, state)
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

/** The first difference between the living names of a window, all in a list, and those of the whole chain. */
export const listFault = (
  found: ReadonlyArray<LightRecord>,
  { height, names }: Pick<ModelState, "height" | "names">
): string | undefined => {
  const living = new Map(
    found.filter(({ record }) => !isExpiredAt(record.height, height)).map((each) => [nameKey(each.record.name), each])
  )
  for (const [key, said] of names) {
    const light = living.get(key)
    living.delete(key)
    const isOver = isExpiredAt(said.height, height)
    if (light === undefined && isOver) continue
    if (light === undefined) return `it lacks ${nameField(said.name)} of height ${said.height}`
    if (isOver) return `it has ${nameField(said.name)} of height ${light.record.height}, which expired`
    if (!isSame(light, said)) {
      return `it has ${nameField(said.name)} of height ${light.record.height}, not ${said.height}`
    }
  }
  const [invented] = living.values()
  return invented === undefined ? undefined : `it has ${nameField(invented.record.name)}, which the chain lacks`
}

/** A light node has each living name as the whole chain has it, and no other. */
const equalFault = (node: WorldNode, light: LightNode, state: ModelState): string | undefined => {
  const found = listed(node, light)
  return found === undefined ? "its names cannot be listed" : listFault(found, state)
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
      during: () => firstFault(world.nodes, (node) => windows.check(node)),
      atEnd: () =>
        Effect.gen(function*() {
          for (const node of nodes) {
            const fault = yield* endFault(world, node)
            if (fault !== undefined) return fault
          }
          if (nodes.length > 0 && windows.compared.light === 0) return "no window was compared"
          const { names, thefts } = toldIn(world)
          const stolen = { light: 0, whole: 0 }
          for (const { node, record } of names) {
            if (record !== undefined && thefts.has(record.txid)) stolen[kindOf(world.node(node))]++
          }
          for (const kind of ["light", "whole"] as const) {
            const [compared, told] = [windows.compared[kind], stolen[kind]]
            world.note("windows", { kind, compared, thefts: thefts.size, stolen: told })
          }
          return undefined
        })
    }
  }
}
