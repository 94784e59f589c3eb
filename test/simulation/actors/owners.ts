import { below, type Random } from "../../../src/base/random.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import { type Arguments, MINUTE, type NodePlan } from "../plan.ts"
import type { Actor } from "../World.ts"
import { between, chance, oneOf, times, weighted } from "./drawing.ts"
import { ownerActions, type Wish } from "./ownerActions.ts"

/** Few enough names that owners compete for them, and that names die and are registered again. */
export const NAMES = 8

/** Between two wishes of all owners, on average. */
const WISHES = MINUTE / 2

/** Chance that two owners register the same name at once, and that both are one owner whose program repeats its call. */
const RACE = 0.4
const REPEATED = 0.5

export const nameOf = (index: number): string => `d/name-${index}`

const anyName = (random: Random): string => nameOf(below(random, NAMES))

/** A domain's value, so that DNS has something to say of it. */
const valueOf = (random: Random): string => {
  const ip = [10, below(random, 256), below(random, 256), below(random, 256)].join(".")
  return chance(random, 0.1) ? `not json ${below(random, 1_000)}` : JSON.stringify({ ip, map: { www: { ip } } })
}

type Drawn = (random: Random, nodes: ReadonlyArray<NodePlan>) => Arguments

const NONE: Drawn = () => ({})

/** What each wish says besides the owner's node. */
const WISHED: Readonly<Record<Wish, Drawn>> = {
  register: (random) => ({ name: anyName(random), value: valueOf(random), renew: chance(random, 0.4) }),
  update: (random) => ({ name: anyName(random), value: valueOf(random) }),
  transfer: (random, nodes) => ({ name: anyName(random), to: oneOf(random, nodes).name }),
  pay: (random, nodes) => ({ to: oneOf(random, nodes).name, amount: between(random, [COIN / 100, 3 * COIN]) }),
  rival: (random, nodes) => ({
    to: oneOf(random, nodes).name,
    rich: chance(random, 0.6),
    delay: between(random, [1, 60_000])
  }),
  cancel: (random) => ({ name: anyName(random) }),
  renewal: (random) => ({ name: anyName(random), on: chance(random, 0.7) }),
  lock: (random) => ({ seconds: between(random, [1, 1_800]), renewalsOnly: chance(random, 0.4) }),
  sweep: NONE,
  hurry: NONE,
  renew: NONE,
  bump: NONE,
  abandon: NONE,
  import: NONE
}

const WEIGHTS: Readonly<Record<Wish, number>> = {
  register: 8,
  update: 10,
  transfer: 3,
  pay: 5,
  rival: 3,
  sweep: 2,
  hurry: 3,
  bump: 4,
  renew: 1,
  renewal: 2,
  cancel: 1,
  abandon: 1,
  import: 0.5,
  lock: 0.1
}

/**
 * Owners at each node register names that others want too, update, transfer and renew them, pay each other, join all of
 * their coins, spend rewards too early, double-spend through another node, bump fees, cancel, and sometimes encrypt their
 * wallet. Must use nothing else but the wallet of their own node, and never one key in two wallets.
 */
export const owners: Actor = {
  name: "owners",

  draw: ({ random, until, whole }) => {
    const holders = whole.filter(({ options }) => options.disableWallet !== true)
    if (holders.length === 0) return []
    return times(random, { mean: WISHES, until }).flatMap((at) => {
      const action = weighted(random, WEIGHTS)
      const node = oneOf(random, holders).name
      const wish = { at, action, arguments: { node, ...WISHED[action](random, holders) } }
      if (action !== "register" || !chance(random, RACE)) return [wish]
      const second = chance(random, REPEATED) ? node : oneOf(random, holders).name
      return [wish, { ...wish, arguments: { ...wish.arguments, node: second, value: "second" } }]
    })
  },

  act: ownerActions
}
