import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Warnings } from "../../chain/Warnings.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { PROTOCOL_VERSION } from "../../network/peer/Handshake.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { version } from "../../version.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import { GETINFO } from "../contract/control/control.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { SHOWN_WALLET_VERSION, summarized } from "./wallet/walletContext.ts"

/** Two digits per part, as in the reference node. */
export const versionNumber = (text: string): number => {
  const [major = 0, minor = 0, patch = 0] = (/^\d+\.\d+\.\d+/.exec(text)?.[0] ?? "").split(".").map(Number)
  return 10_000 * major + 100 * minor + patch
}

/** The version of Namecoin Core with the same interface: tools compare `getnetworkinfo.version` with Core's numbers. */
export const CORE_VERSION = 310_100

export const infoMethods: Methods<Chain | SyncStatus | PeerManager | Mempool | Wallets | Warnings> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const status = yield* SyncStatus
    const peers = yield* PeerManager
    const mempool = yield* Mempool
    const wallets = yield* Wallets
    const warnings = yield* Warnings
    const { name } = chain.params.network

    const getinfo = method(GETINFO, (_, call) =>
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
      }))

    return [getinfo]
  }
)
