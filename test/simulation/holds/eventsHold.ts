import * as Effect from "effect/Effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { copyFault, type EventCopy } from "../actors/copies.ts"
import { readRest } from "../actors/subscribers.ts"
import { toldIn } from "../actors/Told.ts"
import { MINUTE } from "../plan.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, settledTip } from "./chains.ts"

/** Virtual milliseconds in which a reader must have the rest, and minutes until a receiver has it. */
const REST = 2 * MINUTE
const PATIENCE = 10

/** The difference between a copy by events and the names of its node. */
const lastFault = (world: World, node: WorldNode, copy: EventCopy): string | undefined => {
  const tip = settledTip(node)
  if (tip === undefined) return `${node.name} (${node.state}) has no tip to compare its copy with`
  let isCompared = false
  const fault = comparedAt(world, tip.hash, ({ state }) => {
    isCompared = true
    return copyFault(copy, state)
  })
  if (fault !== undefined) return `${node.name} at height ${tip.height}: ${fault} (cursor ${copy.replica.cursor})`
  return isCompared ? undefined : `no node has the tip of ${node.name}, of height ${tip.height}`
}

const readersFault = (world: World) =>
  Effect.gen(function*() {
    const { copies } = toldIn(world)
    yield* Effect.forEach(copies, (copy) => readRest(world, copy, REST), { concurrency: "unbounded" })
    for (const copy of copies) {
      const fault = lastFault(world, world.node(copy.node), copy)
      if (fault !== undefined) return fault
    }
    return undefined
  })

/** An operator resumes a hook whose next attempt would be in an hour. */
const resumed = ({ run, webhooks }: WorldNode) =>
  run(Effect.gen(function*() {
    if (webhooks === undefined) return
    for (const { id } of yield* webhooks.list) yield* webhooks.resume({ id, from: undefined })
  })).pipe(Effect.ignore)

const receiverFault = (world: World, node: WorldNode) =>
  Effect.gen(function*() {
    const received = toldIn(world).hooks.get(node.name)
    if (received === undefined) return undefined
    const { copy, messages } = received
    yield* resumed(node)
    for (let minute = 0;; minute++) {
      const tip = settledTip(node)
      if (tip !== undefined && messages.tip === displayHash(tip.hash)) return lastFault(world, node, copy)
      if (minute === PATIENCE) break
      yield* Effect.sleep("1 minute")
    }
    return `the receiver of ${node.name} (${node.state}) is at ${messages.tip}, and not at the tip`
  })

/** Copies by events equal the names: those of readers, and those of webhooks, which each block brings in order. */
export const eventsHold: Property = {
  name: "events tell everything",
  check: (world) => ({
    atEnd: () =>
      Effect.gen(function*() {
        const fault = yield* readersFault(world)
        if (fault !== undefined) return fault
        for (const node of world.whole) {
          const late = yield* receiverFault(world, node)
          if (late !== undefined) return late
        }
        return undefined
      })
  })
}
