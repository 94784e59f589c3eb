import type { BlockNotFound } from "../../chain/errors.ts"
import { rejectionText, type TransactionRejected } from "../../mempool/errors.ts"
import type { NamesIncomplete } from "../../names/errors.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { RpcError } from "../method/RpcError.ts"

/** Converts failures of the services to RPC errors; wallet failures: `wallet/walletContext.ts`. */

/** A file that cannot be read or written: the caller is not the cause. */
export const storageError = (failure: StorageFailure): RpcError => RpcError.internal(failure.message)

/** The error for a name that is missing or expired, when the node cannot be certain of it. */
export const absentError = (failure: NamesIncomplete | StorageFailure): RpcError =>
  failure._tag === "NamesIncomplete" ? RpcError.initialDownload() : storageError(failure)

/** Missing inputs have a code of their own: they may arrive later. */
export const rejectionError = (rejected: TransactionRejected): RpcError =>
  rejected.kind === "missing-inputs"
    ? RpcError.verifyError(rejectionText(rejected), "inputs-missing")
    : RpcError.verifyRejected(rejectionText(rejected))

export const blockError = (failure: BlockNotFound | StorageFailure): RpcError =>
  failure._tag === "BlockNotFound" ? RpcError.blockNotFound() : storageError(failure)
