import type { BlockNotFound } from "../../chain/errors.ts"
import { rejectionText, type TransactionRejected } from "../../mempool/errors.ts"
import type { MinedBlockRefused, TemplateInvalid } from "../../mempool/mining/errors.ts"
import type { NamesIncomplete } from "../../names/errors.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { methodHelp } from "../method/help.ts"
import type { Method } from "../method/methodTable.ts"
import { RpcError, type RpcReason } from "../method/RpcError.ts"

/** Failures of wallets are in `wallet/walletContext.ts`. */

/** Not the caller's fault. */
/** By the code of the system. */
const FILE_REASONS: ReadonlyMap<string | undefined, RpcReason> = new Map<string | undefined, RpcReason>([
  ["ENOSPC", "disk-full"],
  ["EDQUOT", "disk-full"],
  ["EEXIST", "file-exists"],
  ["EACCES", "file-refused"],
  ["EPERM", "file-refused"],
  ["EROFS", "file-refused"],
  ["ENOENT", "file-refused"],
  ["ENOTDIR", "file-refused"]
])

export const storageReason = (failure: StorageFailure): RpcReason | undefined =>
  failure._tag === "StorageUnavailable" ? FILE_REASONS.get(failure.code) : undefined

export const storageError = (failure: StorageFailure): RpcError =>
  RpcError.internal(failure.message, storageReason(failure))

/** For a missing or expired name, if the node cannot be certain. */
export const absentError = (failure: NamesIncomplete | StorageFailure): RpcError =>
  failure._tag === "NamesIncomplete" ? RpcError.initialDownload() : storageError(failure)

/** The reason for a transaction that conflicts with one in the mempool and cannot replace it. */
const CONFLICT = "txn-mempool-conflict"

/** Missing inputs have their own code, as they may arrive later. */
export const rejectionError = (rejected: TransactionRejected): RpcError =>
  rejected.kind === "missing-inputs"
    ? RpcError.verifyError(rejectionText(rejected), "inputs-missing")
    : RpcError.verifyRejected(rejectionText(rejected), rejected.reason === CONFLICT ? "coins-in-use" : undefined)

export const blockError = (failure: BlockNotFound | StorageFailure): RpcError =>
  failure._tag === "BlockNotFound" ? RpcError.blockNotFound() : storageError(failure)

export const nodeError = (code: number, message: string): RpcError => new RpcError({ code, message })

/** An unknown command word gets the method's help, as in the reference node. */
export const usageError = (self: () => Method): RpcError => RpcError.misc(methodHelp(self()))

export const miningError = (failure: TemplateInvalid | MinedBlockRefused | StorageFailure): RpcError => {
  switch (failure._tag) {
    case "TemplateInvalid":
      return RpcError.misc(failure.message)
    case "MinedBlockRefused":
      return RpcError.internal(failure.message)
    default:
      return storageError(failure)
  }
}
