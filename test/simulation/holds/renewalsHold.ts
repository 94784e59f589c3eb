import { Mempool } from "../../../src/mempool/Mempool.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import { binaryString, type Bytes, equal } from "../../../src/protocol/bytes.ts"
import { type OutpointKey, txidKey } from "../../../src/protocol/keys.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import { MINUTE } from "../plan.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, firstWalletFault, sendsOwn, serviceOf, settledTip } from "./chains.ts"
import { type ModelOperation, type ModelState, outpointOf } from "./ReplayModel.ts"

/** The blocks of a name's life, and the last of them, in which the wallet renews it if it has the time. */
const LIFE = 30
const LAST = 3
const ENOUGH_TIME = 2 * MINUTE

/** Coins that pay any renewal. */
const ENOUGH = COIN / 10

interface Watched {
  readonly node: WorldNode
  readonly life: number
  /** The name's coin. */
  readonly outpoint: OutpointKey
  /** When the wallet had to renew the name: once it is in its last blocks and nothing renews it, in milliseconds. */
  readonly since: number
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
    this.restartClocks(node)
    const tip = settledTip(node)
    if (!sendsOwn(node) || tip === undefined) return undefined
    return firstWalletFault(node, (wallet) => {
      const last = wallet.ledger.lastBlock()
      const key = `${node.name} ${node.life} ${wallet.name}`
      const looked = this.looked.get(key)
      if (!equal(last.hash, tip.hash) || looked !== undefined && equal(looked, tip.hash)) return undefined
      this.looked.set(key, tip.hash)
      return comparedAt(this.world, tip.hash, ({ state }) => this.wallet(node, wallet, state))
    })
  }

  /** As long as a renewal waits, the wallet is in time, even if it is too late with the block that drops the renewal. */
  private restartClocks(node: WorldNode): void {
    for (const [key, watched] of this.watched) {
      if (watched.node === node && isSpent(node, watched.outpoint)) {
        this.watched.set(key, { ...watched, since: this.world.now() })
      }
    }
  }

  /** Which names are the wallet's, and how old they are, is what the blocks say. */
  private wallet(node: WorldNode, wallet: Wallet, { height, names }: ModelState): string | undefined {
    for (const said of names.values()) {
      const { address, height: updated, name } = said
      const key = `${node.name} ${wallet.name} ${binaryString(name)}`
      const left = updated + LIFE - height
      const isOwn = wallet.keys.own(address) !== undefined
      if (!isOwn || left > LAST || !wallet.names.isRenewed(name) || !knows(wallet, said)) {
        this.watched.delete(key)
        continue
      }
      const before = this.watched.get(key)
      const goesOn = before?.life === node.life && before.outpoint === outpointOf(said) && isAble(wallet)
      if (left > 1) {
        const { life } = node
        if (!goesOn) {
          this.watched.set(key, { node, life, outpoint: outpointOf(said), since: this.world.now() })
        }
        continue
      }
      this.watched.delete(key)
      if (goesOn && !isSpent(node, before.outpoint) && this.world.now() - before.since >= ENOUGH_TIME) {
        return `${nameField(name)} of height ${updated} was not renewed until height ${height}`
      }
    }
    return undefined
  }
}

/** A renewal that the wallet made and did not send is not in the mempool. */
const isSpent = (node: WorldNode, outpoint: OutpointKey): boolean =>
  serviceOf(node, Mempool)?.spender(outpoint) !== undefined

/** Whether the wallet knows the confirmed coin of a name. */
const knows = (wallet: Wallet, { txid }: ModelOperation): boolean =>
  wallet.ledger.transaction(txidKey(txid))?.state.type === "confirmed"

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
