import type { RpcClient } from "../crash/rpc.ts"
import { listOf, recordOf } from "../crash/rpc.ts"

/** The passphrase of the encrypted wallet. */
export const PASSPHRASE = "correct horse battery staple"

/** The wallet that is encrypted. */
export const SECOND = "second"

/** Names of the fixture: registered, given away, expired, and one whose registration waits. */
export const NAMES = {
  alive: "d/alive",
  updated: "id/updated",
  given: "d/given",
  expired: "d/expired",
  byHand: "d/by-hand",
  waiting: "d/waiting"
} as const

/** An address without a known key: coins that go there are lost. */
const ELSEWHERE = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

/** Callers of a node that is being filled: its default wallet, and the encrypted one. */
export interface Callers {
  readonly rpc: RpcClient
  readonly second: RpcClient
}

/** Fills a node with a chain, names, two wallets, and unconfirmed transactions. */
export const fill = async ({ rpc, second }: Callers): Promise<void> => {
  const mine = String(await rpc.call("getnewaddress", "mining"))
  const generate = (count: number) => rpc.call("generatetoaddress", count, mine)
  await generate(105)
  for (const type of ["legacy", "p2sh-segwit", "bech32", "bech32m"]) {
    const address = await rpc.call("getnewaddress", `label ${type}`, type)
    await rpc.call("sendtoaddress", address, 1.5, `to ${type}`)
  }
  await rpc.call("createwallet", SECOND, false, false, PASSPHRASE, false, true, true)
  await second.call("walletpassphrase", PASSPHRASE, 600)
  const theirs = String(await second.call("getnewaddress", "theirs", "legacy"))
  await rpc.call("sendtoaddress", theirs, 7, "to the second wallet")

  await rpc.call("name_autoregister", NAMES.expired, "{\"soon\":\"gone\"}")
  await generate(14)
  await generate(20)
  await rpc.call("name_autoregister", NAMES.alive, "{\"ip\":\"192.0.2.1\"}")
  await rpc.call("name_autoregister", NAMES.updated, "{\"version\":1}")
  await rpc.call("name_autoregister", NAMES.given, "{\"owner\":\"first\"}")
  const [newTxid, rand] = listOf(await rpc.call("name_new", NAMES.byHand))
  await generate(13)
  await rpc.call("name_firstupdate", NAMES.byHand, rand, newTxid, "by hand")
  await generate(2)
  await rpc.call("name_update", NAMES.updated, "{\"version\":2}")
  await rpc.call("name_update", NAMES.given, "{\"owner\":\"second\"}", { destAddress: theirs })
  await generate(2)
  await rpc.call("name_update", NAMES.updated, "{\"version\":3}")
  await second.call("sendtoaddress", ELSEWHERE, 0.25, "from the second wallet")
  await generate(3)

  // A branch that lost.
  const tip = await rpc.call("getbestblockhash")
  await rpc.call("invalidateblock", tip)
  // To another address: the clock stands still, and the same block would come again.
  await rpc.call("generatetoaddress", 2, await rpc.call("getnewaddress", "the other branch"))
  await rpc.call("reconsiderblock", tip)

  await rpc.call("setban", "203.0.113.7", "add", 4_000_000_000, true)
  await rpc.call("setlabel", theirs, "a friend")
  await rpc.call("name_autorenew", NAMES.alive, true)
  await second.call("walletlock")
  const [coin] = listOf(await rpc.call("listunspent", 20)).map(recordOf)
  await rpc.call("lockunspent", false, [{ txid: coin?.["txid"], vout: coin?.["vout"] }], true)
  // Unconfirmed: a payment, and a registration.
  await rpc.call("sendtoaddress", ELSEWHERE, 0.125, "waits for a block")
  await rpc.call("name_autoregister", NAMES.waiting, "{\"waits\":true}")
}
