import * as Effect from "effect/Effect"
import type { Chain } from "../chain/Chain.ts"
import type { ChainCoins } from "../chain/ChainCoins.ts"
import type { SyncStatus } from "../chain/SyncStatus.ts"
import type { FeeEstimator } from "../mempool/fees/FeeEstimator.ts"
import type { Mempool } from "../mempool/Mempool.ts"
import type { CompleteNames } from "../names/completeNames.ts"
import type { NameDb } from "../names/NameDb.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { OutpointKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { KeysLocked } from "./errors.ts"
import type { KeyRing } from "./keys/KeyRing.ts"
import type { Vault } from "./keys/Vault.ts"
import type { WalletDocument } from "./keys/WalletDocument.ts"
import type { WalletFile } from "./keys/WalletFile.ts"
import type { Ledger } from "./ledger/Ledger.ts"
import type { WalletIndex } from "./ledger/WalletIndex.ts"
import type { WalletEvent } from "./Wallet.ts"
import type { WalletRules } from "./WalletRules.ts"

export interface WalletParts {
  readonly chain: typeof Chain.Service
  readonly chainCoins: typeof ChainCoins.Service
  readonly mempool: typeof Mempool.Service
  readonly fees: typeof FeeEstimator.Service
  readonly status: typeof SyncStatus.Service
  readonly nameDb: typeof NameDb.Service
  /** Repeats a query whose answer denies a name, because names.db may be incomplete. */
  readonly askNames: CompleteNames["ask"]

  readonly rules: WalletRules

  readonly file: WalletFile
  readonly ring: KeyRing
  readonly vault: Vault
  readonly ledger: Ledger
  readonly index: WalletIndex
  /** Skipped by coin selection. */
  readonly locked: Set<OutpointKey>

  /** For scripts with one key; `undefined` if the wallet lacks it. */
  readonly privateKey: (script: Bytes) => Effect.Effect<Bytes | undefined, KeysLocked>
  readonly publish: (event: WalletEvent) => Effect.Effect<void>
}

export const update = (
  { file }: { readonly file: Pick<WalletFile, "update"> },
  change: (document: WalletDocument) => WalletDocument
): Effect.Effect<void, StorageFailure> => Effect.asVoid(file.update(change))
