import { below, type Random } from "../../src/base/random.ts"
import { askers } from "./actors/askers.ts"
import { disks } from "./actors/disks.ts"
import { chance } from "./actors/drawing.ts"
import { killers } from "./actors/killers.ts"
import { liars } from "./actors/liars.ts"
import { miners } from "./actors/miners.ts"
import { newcomers } from "./actors/newcomers.ts"
import { operators } from "./actors/operators.ts"
import { owners } from "./actors/owners.ts"
import { receivers } from "./actors/receivers.ts"
import { reorganizers } from "./actors/reorganizers.ts"
import { replicas } from "./actors/replicas.ts"
import { resolvers } from "./actors/resolvers.ts"
import { subscribers } from "./actors/subscribers.ts"
import { weather } from "./actors/weather.ts"
import { PROPERTIES } from "./holds/all.ts"
import { HOUR, isWhole, MINUTE, type NodePlan, type Plan, type Step, type WorldNumber } from "./plan.ts"
import type { Cast } from "./runWorld.ts"
import { streamOf } from "./seed.ts"

/** The worlds by number, and the plan that a seed draws for each. */

interface WorldKind extends Cast {
  /** Nodes with the whole chain. */
  readonly nodes: number
  readonly lightNodes: number
  /** Nodes with the whole chain that begin again now and then. */
  readonly newcomers: number
  /** Milliseconds by which a node's time of day is wrong at most. */
  readonly offset: number
}

const WORLDS: Readonly<Record<WorldNumber, WorldKind>> = {
  1: {
    nodes: 3,
    lightNodes: 0,
    newcomers: 0,
    offset: 5 * MINUTE,
    actors: [miners, killers, weather, reorganizers, owners, disks],
    properties: PROPERTIES
  },
  2: {
    nodes: 5,
    lightNodes: 1,
    newcomers: 1,
    offset: 40 * MINUTE,
    actors: [
      miners,
      killers,
      weather,
      reorganizers,
      owners,
      operators,
      newcomers,
      liars,
      disks,
      askers,
      replicas,
      subscribers,
      receivers,
      resolvers
    ],
    properties: PROPERTIES
  }
}

/**
 * Short, as a longer time would hold more idle loops: some 30 blocks, and all that the actors do. Healing is longer than
 * a system keeps a connection without an answer.
 */
const DISTURBED = 45 * MINUTE
const HEALING = 20 * MINUTE

/** Parts per million by which a clock is fast or slow at most. */
const DRIFT = 100

/** Most nodes of a world. */
const NAMES = ["anna", "bert", "cleo", "dora", "emil", "fern", "gabi"]

/** A node's address: each is in a network of its own, as a node wants its peers to be. */
const hostOf = (place: number): string => `${23 + 2 * place}.${40 + place}.7.1`

const plusOrMinus = (random: Random, most: number): number => below(random, 2 * most + 1) - most

export const castOf = (world: WorldNumber): Cast => WORLDS[world]

/** A light node needs no wallet, and cannot have one. */
const LIGHT: NodePlan["options"] = { sync: "light", disableWallet: true }

/** Its statistics of the unspent coins are compared with the blocks. */
const COUNTING: NodePlan["options"] = { coinStatsIndex: true }

/** What owners use has no place on a node that begins again. */
const NEWCOMER: Pick<NodePlan, "newcomer" | "options"> = { options: { disableWallet: true }, newcomer: true }

/**
 * The nodes that each world has, before the seed makes them different: those with the whole chain, light ones, and
 * newcomers. Nobody calls the last two. In world 2, the last whole node has an index of statistics.
 */
export const nodesOf = (world: WorldNumber): ReadonlyArray<NodePlan> => {
  const { lightNodes, newcomers, nodes } = WORLDS[world]
  const whole = NAMES.slice(0, nodes)
  const ofKind = (place: number): Pick<NodePlan, "newcomer" | "options"> =>
    place < nodes
      ? { options: world === 2 && place === nodes - 1 ? COUNTING : {} }
      : place < nodes + lightNodes
      ? { options: LIGHT }
      : NEWCOMER
  return NAMES.slice(0, nodes + lightNodes + newcomers).map((name, place) => ({
    name,
    host: hostOf(place),
    peers: whole.filter((other) => other !== name),
    offset: 0,
    drift: 0,
    ...ofKind(place)
  }))
}

/** Whether others rely on what a node keeps. */
export const keepsAll = (node: NodePlan): boolean => isWhole(node) && node.newcomer !== true

/** Clocks are wrong in most worlds, and some nodes call only one other. */
const drawnNodes = (world: WorldNumber, random: Random): ReadonlyArray<NodePlan> => {
  const isWrong = chance(random, 0.7)
  const isLine = chance(random, 0.2)
  return nodesOf(world).map((node, place, all) => ({
    ...node,
    peers: isLine && keepsAll(node)
      ? all.slice(place + 1, place + 2).filter(keepsAll).map(({ name }) => name)
      : node.peers,
    offset: isWrong ? plusOrMinus(random, WORLDS[world].offset) : 0,
    drift: isWrong ? plusOrMinus(random, DRIFT) : 0,
    hook: world === 2 && keepsAll(node)
  }))
}

/** Draws what happens in a world. */
export const drawPlan = (seed: number, world: WorldNumber): Plan => {
  const nodes = drawnNodes(world, streamOf(seed, "plan"))
  const whole = nodes.filter(keepsAll)
  const steps = WORLDS[world].actors.flatMap((actor): ReadonlyArray<Step> =>
    actor.draw({ seed, world, nodes, whole, until: DISTURBED, random: streamOf(seed, `act:${actor.name}`) })
      .map((step, count) => ({ id: `${actor.name}-${count}`, actor: actor.name, ...step }))
  )
  return {
    seed,
    world,
    nodes,
    steps: steps.toSorted((a, b) => a.at - b.at),
    until: DISTURBED,
    healing: HEALING
  }
}

/** The shortest time in which any world heals. */
const LEAST_HEALING = 12 * MINUTE

/** The plan without what comes after its first hours with faults; the world then heals for half of them, or a while. */
export const firstHours = (plan: Plan, hours: number): Plan => {
  const until = HOUR * hours
  if (until >= plan.until) return plan
  const healing = Math.min(plan.healing, Math.max(LEAST_HEALING, until / 2))
  return { ...plan, until, healing, steps: plan.steps.filter(({ at }) => at < until) }
}
