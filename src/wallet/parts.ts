import * as Effect from "effect/Effect"
import type { Chain } from "../chain/Chain.ts"
import type { SyncStatus } from "../chain/SyncStatus.ts"
import type { FeeEstimator } from "../mempool/fees/FeeEstimator.ts"
import type { Mempool } from "../mempool/Mempool.ts"
import { binaryString, displayHash, fromBinaryString, parseDisplayHash } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { KeyRing } from "./keys/KeyRing.ts"
import type { Vault } from "./keys/Vault.ts"
import type { WalletDocument } from "./keys/WalletDocument.ts"
import type { WalletFile } from "./keys/WalletFile.ts"
import type { Ledger } from "./ledger/Ledger.ts"
import type { WalletEvent } from "./Wallet.ts"

/** The shared state of the parts of one wallet. */
export interface LiveParts {
  readonly file: WalletFile
  readonly ring: KeyRing
  readonly ledger: Ledger
  readonly vault: Vault
  readonly chain: typeof Chain.Service
  readonly mempool: typeof Mempool.Service
  readonly fees: typeof FeeEstimator.Service
  readonly status: typeof SyncStatus.Service
  readonly publish: (event: WalletEvent) => Effect.Effect<void>
  /** Outpoint keys that coin selection skips. */
  readonly locked: Set<string>
}

/** Changes the file and drops the result. */
export const update = (
  { file }: Pick<LiveParts, "file">,
  change: (document: WalletDocument) => WalletDocument
): Effect.Effect<void, StorageFailure> => Effect.asVoid(file.update(change))

const DISPLAYED = 64

/** The key of a txid, given as a key or in display byte order; `undefined` for any other text. */
export const keyOfTxid = (txid: string): string | undefined => {
  if (txid.length !== DISPLAYED) return txid
  const hash = parseDisplayHash(txid)
  return hash === undefined ? undefined : binaryString(hash)
}

/** The txid of a key, in display byte order. */
export const shownTxid = (key: string): string => displayHash(fromBinaryString(key))
