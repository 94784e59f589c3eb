import { COIN } from "../../../src/protocol/amount.ts"
import { binaryString, type Bytes, equal } from "../../../src/protocol/bytes.ts"
import { nameKey } from "../../../src/protocol/keys.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import { MINUTE } from "../plan.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, firstWalletFault, settledTip } from "./chains.ts"
import type { ModelState } from "./ReplayModel.ts"

/** The blocks of a name's life, and the last of them, in which the wallet renews it if it has the time. */
const LIFE = 30
const LAST = 3
const ENOUGH_TIME = 2 * MINUTE

/** Coins that pay any renewal. */
const ENOUGH = COIN / 10

interface Watched {
  readonly life: number
  /** When the wallet was first seen with the name in its last blocks, in milliseconds. */
  readonly since: number
  readonly height: number
}

class Renewals {
  private readonly world: World
  private readonly watched = new Map<string, Watched>()
  /** The last block at which each wallet was looked at: in between, only the wallet does something. */
  private readonly looked = new Map<string, Bytes>()

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    const tip = settledTip(node)
    if (tip === undefined) return undefined
    return firstWalletFault(node, (wallet) => {
      const last = wallet.ledger.lastBlock()
      const key = `${node.name} ${node.life} ${wallet.name}`
      const looked = this.looked.get(key)
      if (!equal(last.hash, tip.hash) || looked !== undefined && equal(looked, tip.hash)) return undefined
      this.looked.set(key, tip.hash)
      return comparedAt(this.world, tip.hash, ({ state }) => this.wallet(node, wallet, state))
    })
  }

  /** Which names are the wallet's, and how old they are, is what the blocks say. */
  private wallet(node: WorldNode, wallet: Wallet, { height, names }: ModelState): string | undefined {
    for (const { address, height: updated, name } of names.values()) {
      const key = `${node.name} ${wallet.name} ${binaryString(name)}`
      const left = updated + LIFE - height
      const isOwn = wallet.keys.own(address) !== undefined
      if (!isOwn || left > LAST || !wallet.names.isRenewed(name) || !holds(wallet, name)) {
        this.watched.delete(key)
        continue
      }
      const before = this.watched.get(key)
      const goesOn = before?.life === node.life && before.height === updated && isAble(wallet)
      if (left > 1) {
        if (!goesOn) this.watched.set(key, { life: node.life, since: this.world.now(), height: updated })
        continue
      }
      this.watched.delete(key)
      if (goesOn && this.world.now() - before.since >= ENOUGH_TIME) {
        return `${nameField(name)} of height ${updated} was not renewed until height ${height}`
      }
    }
    return undefined
  }
}

/** Whether the wallet has the confirmed coin of a name, and no transaction that spends it. */
const holds = (wallet: Wallet, name: Uint8Array): boolean =>
  wallet.ledger.coins().some((coin) => {
    const operation = coin.name?.operation
    return coin.height !== undefined && operation !== undefined && operation.op !== "name_new" &&
      nameKey(operation.name) === nameKey(name)
  })

const isAble = (wallet: Wallet): boolean =>
  wallet.vault.encryption() !== "locked" &&
  wallet.ledger.coins().reduce(
      (sum, { coinbase, height, name, output }) =>
        name === undefined && !coinbase && height !== undefined ? sum + output.value : sum,
      0
    ) > ENOUGH

export const renewalsHold: Property = {
  name: "no renewal is missed",
  check: (world) => {
    const renewals = new Renewals(world)
    return { during: () => firstFault(world.whole, (node) => renewals.check(node)) }
  }
}
