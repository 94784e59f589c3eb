import * as Effect from "effect/Effect"
import { below, type Random, shuffled } from "../../../src/base/random.ts"
import { type DrawnStep, MINUTE, type NodePlan } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { between, chance, numberAt, oneOf, textAt, textsAt, times, weighted } from "./drawing.ts"

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

const partition = (random: Random, at: number, nodes: ReadonlyArray<NodePlan>): ReadonlyArray<DrawnStep> => {
  const [one, other] = sides(random, hostsOf(nodes))
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

const FAULTS = { partition, swizzle, reset, slow } as const

/** Keeps a fault for the time of its step, even if the step is interrupted. */
const during = (milliseconds: number, begin: () => () => void) =>
  Effect.acquireUseRelease(Effect.sync(begin), () => Effect.sleep(milliseconds), (end) => Effect.sync(end))

const cutting = ({ network }: World, from: ReadonlyArray<string>, to: ReadonlyArray<string>) =>
  network.cut({ from: new Set(from), to: new Set(to) })

/**
 * Disturbs the links: cuts the network into two parts, for both directions or for one, clogs hosts one after the other,
 * resets connections, slows links down. Must not touch nodes, and ends each of its faults by itself.
 */
export const weather: Actor = {
  name: "weather",

  draw: ({ nodes, random, until }) =>
    times(random, { mean: 6 * MINUTE, until }).flatMap((at) => {
      const fault = weighted(random, { partition: 4, swizzle: 2, reset: 3, slow: 2 })
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
      })
  })
}
