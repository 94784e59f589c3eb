import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { PROTOCOL_VERSION } from "../../network/peer/Handshake.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { version } from "../../version.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import * as Shape from "../method/shape.ts"
import { SHOWN_WALLET_VERSION, summarized } from "./wallet/walletContext.ts"

/** The version as one number with two digits for each part, as in the reference node. */
export const versionNumber = (text: string): number => {
  const [major = 0, minor = 0, patch = 0] = (/^\d+\.\d+\.\d+/.exec(text)?.[0] ?? "").split(".").map(Number)
  return 10_000 * major + 100 * minor + patch
}

export const infoMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | SyncStatus | PeerManager | Mempool | Wallets
> = Effect.gen(function*() {
  const chain = yield* Chain
  const status = yield* SyncStatus
  const peers = yield* PeerManager
  const mempool = yield* Mempool
  const wallets = yield* Wallets
  const { name } = chain.params.network

  const getinfo = method({
    name: "getinfo",
    group: "Control",
    summary: "Returns a summary of the node.",
    params: {},
    results: [{
      shape: Shape.object({
        version: Shape.integer("Version of svcd, two digits for each part"),
        protocolversion: Shape.integer("Version of the network protocol"),
        walletversion: Shape.optional(
          Shape.integer("As in getwalletinfo. This and the other wallet members are only present with a wallet")
        ),
        balance: Shape.optional(Shape.amount("Spendable balance of the wallet, as in getbalance")),
        blocks: Shape.integer("Height of the tip"),
        timeoffset: Shape.integer("Always 0: svcd does not correct the clock"),
        connections: Shape.integer("Connected peers"),
        proxy: Shape.string("The proxy, if any"),
        difficulty: Shape.number("The tip's difficulty"),
        testnet: Shape.boolean("Whether this is the test network"),
        keypoololdest: Shape.optional(Shape.time("Earliest time at which the wallet may have been used")),
        keypoolsize: Shape.optional(Shape.integer("Watched addresses that are not handed out yet")),
        unlocked_until: Shape.optional(Shape.time("End of the unlocked time; only for an encrypted wallet")),
        paytxfee: Shape.amount("Fee per kvB that the wallet pays, if it is set"),
        relayfee: Shape.amount("Minimum fee per kvB for relay"),
        errors: Shape.string("Warnings"),
        chain: Shape.string("main, test or regtest"),
        initialblockdownload: Shape.boolean("Whether the node is still catching up")
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
          proxy: peers.proxy ?? "",
          difficulty: difficultyOf(tip.header.bits),
          testnet: name === "testnet",
          keypoololdest: wallet?.keys.birthday,
          keypoolsize: wallet?.keys.keypool().receive,
          unlocked_until: wallet === undefined || wallet.vault.encryption() === "none"
            ? undefined
            : wallet.vault.unlockedUntil(),
          paytxfee: new Amount(0),
          relayfee: new Amount(mempool.info().minRelayFeeRate),
          errors: "",
          chain: chain.params.network.chainName,
          initialblockdownload: yield* status.initialDownload
        }
      })
  })

  return [getinfo]
})
