import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Warnings } from "../../chain/Warnings.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { PROTOCOL_VERSION } from "../../network/peer/Handshake.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { version } from "../../version.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import * as Result from "../method/results.ts"
import { SHOWN_WALLET_VERSION, summarized } from "./wallet/walletContext.ts"

/** The version as one number with two digits for each part, as in the reference node. */
export const versionNumber = (text: string): number => {
  const [major = 0, minor = 0, patch = 0] = (/^\d+\.\d+\.\d+/.exec(text)?.[0] ?? "").split(".").map(Number)
  return 10_000 * major + 100 * minor + patch
}

/** The version of Namecoin Core whose interface svcd has: tools compare `getnetworkinfo.version` with Core's numbers. */
export const CORE_VERSION = 310_100

export const infoMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | SyncStatus | PeerManager | Mempool | Wallets | Warnings
> = Effect.gen(function*() {
  const chain = yield* Chain
  const status = yield* SyncStatus
  const peers = yield* PeerManager
  const mempool = yield* Mempool
  const wallets = yield* Wallets
  const warnings = yield* Warnings
  const { name } = chain.params.network

  const getinfo = method({
    name: "getinfo",
    right: "read",
    group: "Control",
    summary: "Returns a summary of the node.",
    params: {},
    results: [{
      schema: Schema.Struct({
        version: Result.integer("Version of svcd, two digits for each part"),
        protocolversion: Result.integer("Version of the network protocol"),
        walletversion: Schema.optional(
          Result.needing(
            "names",
            Result.integer("As in getwalletinfo. This and the other wallet members are only present with a wallet")
          )
        ),
        balance: Schema.optional(
          Result.needing("names", Result.amount("Spendable balance of the wallet, as in getbalance"))
        ),
        blocks: Result.integer("Height of the tip"),
        timeoffset: Result.integer("Always 0: svcd does not correct the clock"),
        connections: Result.integer("Connected peers"),
        proxy: Result.string("The proxy, if any"),
        difficulty: Result.number("The tip's difficulty"),
        testnet: Result.boolean("Whether this is the test network"),
        keypoololdest: Schema.optional(
          Result.needing("names", Result.time("Earliest time at which the wallet may have been used"))
        ),
        keypoolsize: Schema.optional(
          Result.needing("names", Result.integer("Watched addresses that are not handed out yet"))
        ),
        unlocked_until: Schema.optional(
          Result.needing("names", Result.time("End of the unlocked time; only for an encrypted wallet"))
        ),
        paytxfee: Result.amount("Fee per kvB that the wallet pays, if it is set"),
        relayfee: Result.amount("Minimum fee per kvB for relay"),
        errors: Result.string("Warnings"),
        chain: Result.string("main, test or regtest"),
        initialblockdownload: Result.boolean("Whether the node is still catching up")
      })
    }],
    examples: [[]],
    handler: (_, call) =>
      Effect.gen(function*() {
        const tip = yield* chain.tip
        const wallet = summarized(wallets, call)
        const { inbound, outbound } = yield* peers.count
        return {
          version: versionNumber(version),
          protocolversion: PROTOCOL_VERSION,
          walletversion: wallet === undefined ? undefined : SHOWN_WALLET_VERSION,
          balance: wallet === undefined ? undefined : new Amount((yield* wallet.ledger.balances).trusted),
          blocks: tip.height,
          timeoffset: 0,
          connections: inbound + outbound,
          proxy: peers.proxyTo("ipv4")?.address ?? "",
          difficulty: difficultyOf(tip.header.bits),
          testnet: name === "testnet",
          keypoololdest: wallet?.keys.birthday,
          keypoolsize: wallet?.keys.keypool().receive,
          unlocked_until: wallet === undefined || wallet.vault.encryption() === "none"
            ? undefined
            : wallet.vault.unlockedUntil(),
          paytxfee: new Amount(0),
          relayfee: new Amount(mempool.info().minRelayFeeRate),
          errors: (yield* warnings.current).join(" "),
          chain: chain.params.network.chainName,
          initialblockdownload: yield* status.initialDownload
        }
      })
  })

  return [getinfo]
})
