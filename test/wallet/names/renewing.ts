import { Effect } from "effect"
import { type Bytes, equal } from "../../../src/protocol/bytes.ts"
import { parseNameScript } from "../../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import type { Names } from "../../../src/wallet/names/makeNames.ts"
import type { Renewal } from "../../../src/wallet/names/WalletNames.ts"
import { bytes } from "./operating.ts"
import * as registering from "./registering.ts"
import type { World } from "./World.ts"

/** Three of all requested renewals are sent at once. */
const OPTIONS = { renewalsAtOnce: 3 }

export const start = (world: World) => registering.start(world, OPTIONS)

/** A wallet that owns names, all registered in one block. */
export const withNames = <A, E>(list: ReadonlyArray<Bytes>, use: (names: Names, world: World) => Effect.Effect<A, E>) =>
  registering.withNames((names, world) =>
    Effect.gen(function*() {
      for (const name of list) yield* names.nameNew(name, {})
      world.mine(12)
      for (const name of list) {
        yield* names.nameFirstUpdate({ name, rand: undefined, txid: undefined, value: bytes("v") })
      }
      world.mine()
      yield* names.step
      return yield* use(names, world)
    }), OPTIONS)

export const A = bytes("d/a")
export const B = bytes("d/b")

const updatesOf = ({ sent }: World, name: Bytes): ReadonlyArray<Transaction> =>
  sent.map(({ transaction }) => transaction).filter(({ outputs }) =>
    outputs.some(({ script }) => {
      const operation = parseNameScript(script)?.operation
      return operation?.op === "name_update" && equal(operation.name, name)
    })
  )

/** How many updates of each of the two names the wallet made. */
export const updates = (world: World): readonly [ofA: number, ofB: number] => [
  updatesOf(world, A).length,
  updatesOf(world, B).length
]

/** The owner abandons all updates of a name. */
export const abandonUpdates = (world: World, name: Bytes): void => {
  const abandoned = updatesOf(world, name)
  for (const each of world.sent) each.abandoned ||= abandoned.includes(each.transaction)
  for (const { txidKey } of abandoned) world.pool.delete(txidKey)
}

export const shown = (renewals: ReadonlyArray<Renewal>): ReadonlyArray<string> =>
  renewals.map(({ name, note, state }) => `${Buffer.from(name).toString()} ${state}${note === "" ? "" : `: ${note}`}`)
