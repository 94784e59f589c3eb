import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as ExpiringNames from "../../alerts/ExpiringNames.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { type EmbeddedOpenFailure, InvalidConfig } from "../../client/errors.ts"
import { DataDirectory } from "../../config/DataDirectory.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import { InvalidWalletRequest } from "../../wallet/errors.ts"
import * as Wallets from "../../wallet/Wallets.ts"
import { notifyOfWallets } from "../notifications.ts"
import { openFailure, partLayer } from "./base.ts"
import type { ProvidedByChain } from "./chain.ts"
import type { ProvidedByMempool } from "./mempool.ts"
import type { ProvidedByNameDb } from "./names.ts"
import { optionsOfConfig } from "./NodeSettings.ts"

const walletsOf = ({ chain: { pageSize }, wallet }: Settings) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, (directory) =>
    Wallets.layer({
      directory: directory.path,
      chainstateDirectory: directory.chainstate,
      enabled: !wallet.disableWallet,
      loadDefault: !wallet.noWallet,
      limitNameChains: wallet.limitNameChains,
      // As upstream `CWallet::Create`, 0 keeps one.
      rules: { ...wallet, keypool: Math.max(1, wallet.keypool) },
      pageSize
    }).pipe(Layer.annotateLogs("subsystem", "wallet"))))

/** Only the wallets of the start; wallets loaded later register themselves. */
const catchingUp = ({ notify }: Settings) =>
  Layer.scopedDiscard(
    Effect.gen(function*() {
      const { changes, loaded } = yield* Wallets.Wallets
      // Transactions found while catching up are news, too.
      yield* notifyOfWallets(notify, changes)
      const { register } = yield* ChainControl
      yield* Effect.forEach(loaded(), ({ follower }) => register(follower), { discard: true })
    }).pipe(
      Effect.catchTag("BlocksPruned", () =>
        new InvalidWalletRequest({ code: "behind-pruned", reason: Wallets.BEHIND_PRUNED })),
      Effect.annotateLogs("subsystem", "chain")
    )
  )

/** The wallet that a program uses. */
export interface WalletAccess {
  /** The wallet to load besides those of the start. */
  readonly wallet?: string | undefined
  /** Unlocks that wallet, or the default one, until the layer closes. */
  readonly passphrase?: Redacted.Redacted<string> | undefined
}

/** The longest time, in seconds; the end of the node locks the wallet. */
const UNLOCK_SECONDS = 100_000_000

export const openWallet = (
  { passphrase, wallet = "" }: WalletAccess,
  field: "passphrase" | "walletPassphrase" = "passphrase"
) =>
  Effect.gen(function*() {
    const wallets = yield* Wallets.Wallets
    if (!wallets.enabled) return
    const open = wallets.get(wallet) ?? (yield* Effect.catchTag(
      wallets.load(wallet, undefined),
      "InvalidWalletRequest",
      ({ reason }) => new InvalidConfig({ field: "wallet", reason })
    ))
    if (passphrase === undefined) return
    yield* Effect.mapError(
      open.vault.unlock(passphrase, UNLOCK_SECONDS),
      (failure) => new InvalidConfig({ field, reason: failure.message })
    )
  })

/** The services that a `Wallet` includes. */
export type ProvidedByWallet = ExpiringNames.ExpiringNames | Wallets.Wallets

/** The options of the wallets. */
export type WalletOptionsGiven = OptionsOf<"Wallet"> & WalletAccess

export const walletLayer = (options: OptionsOf<"Wallet"> = {}) =>
  partLayer(
    { layer: "Wallet", options },
    (settings) => Layer.merge(catchingUp(settings), ExpiringNames.layer).pipe(Layer.provideMerge(walletsOf(settings)))
  )

type BelowWallet = ProvidedByChain | ProvidedByMempool | ProvidedByNameDb

/** The wallets of the node: the default one, and named ones. */
export class NodeWallet extends Wallets.Wallets {
  /** Opens the wallets in the directory of the chain below. Creates the default one if there is none. */
  static layer(
    { passphrase, wallet, ...options }: WalletOptionsGiven = {}
  ): Layer.Layer<ProvidedByWallet, EmbeddedOpenFailure, BelowWallet> {
    const opened = Layer.effectDiscard(
      wallet === undefined && passphrase === undefined ? Effect.void : openWallet({ wallet, passphrase })
    )
    return opened.pipe(Layer.provideMerge(walletLayer(options)), Layer.mapError(openFailure))
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig(
    options: Config.Config.Wrap<WalletOptionsGiven>
  ): Layer.Layer<ProvidedByWallet, ConfigError.ConfigError | EmbeddedOpenFailure, BelowWallet> {
    return optionsOfConfig(options, NodeWallet.layer)
  }

  /** A node without wallets: calls that need one are refused. */
  static get layerNone(): Layer.Layer<ProvidedByWallet, EmbeddedOpenFailure, BelowWallet> {
    return NodeWallet.layer({ disableWallet: true })
  }
}
