import type { Random } from "../crash/random.ts"
import { listOf, type RpcClient } from "../crash/rpc.ts"

/** What a wallet sends between two reorganizations, so that blocks and the mempool have payments and names. */

/** Blocks with coins for a wallet: a reorganization must not make those immature that it spent. */
const RIPE_AFTER = 200

const TYPES = ["legacy", "p2sh-segwit", "bech32", "bech32m"]
const PAYMENTS = 6
const NEW_NAMES = 2

export interface Traffic {
  /** Mines coins for the wallet if it has none. */
  readonly begin: () => Promise<void>
  /** Sends payments, and operations on names. Those that cannot be sent now are left out. */
  readonly send: (random: Random) => Promise<void>
}

/** The traffic of the wallet of a node. */
export const walletTraffic = (rpc: RpcClient): Traffic => {
  const commitments = new Map<string, ReadonlyArray<unknown>>()
  const names: Array<string> = []
  let serial = 0

  const begin = async (): Promise<void> => {
    if (Number(await rpc.call("getbalance")) > 0) return
    await rpc.call("generatetoaddress", RIPE_AFTER, await rpc.call("getnewaddress"))
  }

  const pay = async (random: Random): Promise<void> => {
    const address = await rpc.call("getnewaddress", "", random.pick(TYPES))
    await rpc.ask(["sendtoaddress", address, (1 + random.below(100)) / 1_000])
  }

  const register = async (): Promise<void> => {
    const name = `d/traffic-${Date.now()}-${serial++}`
    const answer = await rpc.ask(["name_new", name])
    if ("result" in answer) commitments.set(name, listOf(answer.result))
  }

  /** Reveals what was committed to long enough ago; too early, the node refuses. */
  const reveal = async (): Promise<void> => {
    for (const [name, [txid, salt]] of commitments) {
      const answer = await rpc.ask(["name_firstupdate", name, salt, txid, "first"])
      if ("error" in answer) continue
      commitments.delete(name)
      names.push(name)
    }
  }

  /** Renews all, so that none expires. */
  const update = async (random: Random): Promise<void> => {
    for (const name of names) await rpc.ask(["name_update", name, `value ${random.below(1_000_000)}`])
  }

  const send = async (random: Random): Promise<void> => {
    for (let paid = 0; paid < PAYMENTS; paid++) await pay(random)
    for (let registered = 0; registered < NEW_NAMES; registered++) await register()
    await update(random)
    await reveal()
  }

  return { begin, send }
}
