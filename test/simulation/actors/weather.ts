import * as Effect from "effect/Effect"
import { below, type Random, shuffled } from "../../../src/base/random.ts"
import { type DrawnStep, MINUTE, type NodePlan } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { between, booleanAt, chance, numberAt, oneOf, textAt, textsAt, times, weighted } from "./drawing.ts"

/** The longest fault of a link: long enough that connections are given up, and that branches grow on both sides. */
const LONGEST = 15 * MINUTE

const lasting = (random: Random): number =>
  chance(random, 0.5) ? between(random, [1_000, MINUTE]) : between(random, [MINUTE, LONGEST])

const hostsOf = (nodes: ReadonlyArray<NodePlan>): ReadonlyArray<string> => nodes.map(({ host }) => host)

/** Two sets of hosts, neither of them empty. */
const sides = (random: Random, hosts: ReadonlyArray<string>): readonly [Array<string>, Array<string>] => {
  const order = shuffled(random, hosts)
  const size = 1 + below(random, Math.max(1, hosts.length - 1))
  return [order.slice(0, size), order.slice(size)]
}

/** Chance that a cut is between two hosts alone, which others still reach. */
const PAIR = 0.4

const partition = (random: Random, at: number, nodes: ReadonlyArray<NodePlan>): ReadonlyArray<DrawnStep> => {
  const [first, others] = sides(random, hostsOf(nodes))
  const [one, other] = chance(random, PAIR) ? [first.slice(0, 1), others.slice(0, 1)] : [first, others]
  const action = chance(random, 0.7) ? "partition" : "mute"
  return [{ at, action, arguments: { one, other, lasting: lasting(random) } }]
}

/** Hosts are cut off one by one, and come back in another order. */
const swizzle = (random: Random, at: number, nodes: ReadonlyArray<NodePlan>): ReadonlyArray<DrawnStep> => {
  const [some] = sides(random, hostsOf(nodes))
  const steps = some.map((host, i) => ({ host, from: at + i * between(random, [500, 20_000]) }))
  const last = Math.max(...steps.map(({ from }) => from))
  return shuffled(random, steps).map(({ from, host }, i) => ({
    at: from,
    action: "clog",
    arguments: { host, lasting: last - from + (i + 1) * between(random, [500, 30_000]) }
  }))
}

const reset = (random: Random, at: number, nodes: ReadonlyArray<NodePlan>): ReadonlyArray<DrawnStep> => [
  { at, action: "reset", arguments: { host: oneOf(random, nodes).host, other: oneOf(random, nodes).host } }
]

/** Slow enough that blocks take minutes, and that buffers fill. Some connections break with what is on its way. */
const slow = (random: Random, at: number, nodes: ReadonlyArray<NodePlan>): ReadonlyArray<DrawnStep> => {
  const [from, to] = shuffled(random, hostsOf(nodes))
  if (from === undefined || to === undefined) return []
  const time = lasting(random)
  const slowed = { at, action: "slow", arguments: { from, to, bandwidth: between(random, [50, 5_000]), lasting: time } }
  if (!chance(random, 0.5)) return [slowed]
  return [slowed, { at: at + between(random, [1_000, time]), action: "reset", arguments: { host: from, other: to } }]
}

/** The next long message from one host to another breaks or stalls their connection: often the first block after a partition. */
const tear = (random: Random, at: number, nodes: ReadonlyArray<NodePlan>): ReadonlyArray<DrawnStep> => {
  const [from, to] = shuffled(random, hostsOf(nodes))
  return from === undefined || to === undefined
    ? []
    : [{
      at,
      action: "tear",
      arguments: { from, to, stalls: chance(random, 0.5), lasting: between(random, [MINUTE, LONGEST]) }
    }]
}

const FAULTS = { partition, swizzle, reset, slow, tear } as const

/** Keeps a fault for the time of its step, even if the step is interrupted. */
const during = (milliseconds: number, begin: () => () => void) =>
  Effect.acquireUseRelease(Effect.sync(begin), () => Effect.sleep(milliseconds), (end) => Effect.sync(end))

const cutting = ({ network }: World, from: ReadonlyArray<string>, to: ReadonlyArray<string>) =>
  network.cut({ from: new Set(from), to: new Set(to) })

/**
 * Disturbs the links: cuts the network into two parts, for both directions or for one, clogs hosts one after the other,
 * resets connections, even within a message, slows links down, and makes messages wait in their middle. Must not touch
 * nodes, and ends each of its faults by itself.
 */
export const weather: Actor = {
  name: "weather",

  draw: ({ nodes, random, until }) =>
    times(random, { mean: 6 * MINUTE, until }).flatMap((at) => {
      const fault = weighted(random, { partition: 4, swizzle: 2, reset: 2, slow: 2, tear: 3 })
      return FAULTS[fault](random, at, nodes)
    }),

  act: (world) => ({
    partition: ({ arguments: given }) =>
      during(numberAt(given, "lasting"), () => {
        const [one, other] = [textsAt(given, "one"), textsAt(given, "other")]
        const ends = [cutting(world, one, other), cutting(world, other, one)]
        return () => {
          for (const end of ends) end()
        }
      }),
    mute: ({ arguments: given }) =>
      during(numberAt(given, "lasting"), () => cutting(world, textsAt(given, "one"), textsAt(given, "other"))),
    clog: ({ arguments: given }) =>
      during(numberAt(given, "lasting"), () => {
        const hosts = new Set([textAt(given, "host")])
        const ends = [
          world.network.cut({ from: hosts, to: undefined }),
          world.network.cut({ from: undefined, to: hosts })
        ]
        return () => {
          for (const end of ends) end()
        }
      }),
    reset: ({ arguments: given }) =>
      Effect.sync(() => world.network.reset(textAt(given, "host"), textAt(given, "other"))),
    slow: ({ arguments: given }) =>
      during(numberAt(given, "lasting"), () => {
        const way = { from: textAt(given, "from"), to: textAt(given, "to") }
        world.network.change((links) => links.limitBandwidth(way, numberAt(given, "bandwidth")))
        return () => world.network.change((links) => links.limitBandwidth(way, undefined))
      }),
    tear: ({ arguments: given }) =>
      during(numberAt(given, "lasting"), () => {
        const way = { from: textAt(given, "from"), to: textAt(given, "to") }
        const end = (): void => world.network.change((links) => links.tear(way, undefined))
        world.network.change((links) => links.tear(way, booleanAt(given, "stalls") ? "stall" : "break"))
        return end
      })
  })
}
