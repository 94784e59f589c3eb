import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { StorageFailure } from "../storage/errors.ts"
import type { InvalidWalletRequest, WalletDamaged } from "./errors.ts"
import { make, type WalletsOptions } from "./openWallets.ts"
import type { Wallet } from "./Wallet.ts"
import type { WalletServices } from "./WalletLive.ts"

/** The wallets of a node: the default one in wallet.json, named ones in wallets/. */
export class Wallets extends Context.Tag("svcd/Wallets")<Wallets, {
  /** Whether there are wallets at all (`-disablewallet`). */
  readonly enabled: boolean
  /** Those that are loaded, in the order in which they were. */
  readonly loaded: () => ReadonlyArray<Wallet>
  readonly get: (name: string) => Wallet | undefined
  /** Names of the wallets on disk. */
  readonly onDisk: Effect.Effect<ReadonlyArray<string>, StorageFailure>
  readonly create: (request: {
    readonly name: string
    readonly privateKeys: boolean
    readonly blank: boolean
    readonly passphrase: Redacted.Redacted<string> | undefined
    /** Whether it is to be loaded at each start; `undefined` leaves that as it is. */
    readonly loadOnStart: boolean | undefined
  }) => Effect.Effect<Wallet, InvalidWalletRequest | WalletDamaged | StorageFailure>
  readonly load: (
    name: string,
    loadOnStart: boolean | undefined
  ) => Effect.Effect<Wallet, InvalidWalletRequest | WalletDamaged | StorageFailure>
  readonly unload: (
    name: string,
    loadOnStart: boolean | undefined
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  readonly restore: (
    name: string,
    file: string,
    loadOnStart: boolean | undefined
  ) => Effect.Effect<Wallet, InvalidWalletRequest | WalletDamaged | StorageFailure>
}>() {}

/**
 * The wallets in a data directory. Those that the layer loads are yet to be registered with the chain
 * (`Wallet.follower`), before the mempool; those that are loaded later are registered here.
 */
export const layer = (
  options: WalletsOptions
): Layer.Layer<Wallets, InvalidWalletRequest | WalletDamaged | StorageFailure, WalletServices> =>
  Layer.scoped(Wallets, make(options))
