import type { BlockNotFound } from "../../chain/errors.ts"
import type { NamesIncomplete } from "../../names/errors.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { RpcError } from "../method/RpcError.ts"

/** What failures of the services are in answers; nothing but these turns them into codes. */

/** A file that cannot be read or written: not the caller's fault. */
export const storageError = (failure: StorageFailure): RpcError => RpcError.internal(failure.message)

/** Why nothing can be said about a name that was not found, or is expired. */
export const absentError = (failure: NamesIncomplete | StorageFailure): RpcError =>
  failure._tag === "NamesIncomplete" ? RpcError.initialDownload() : storageError(failure)

export const blockError = (failure: BlockNotFound | StorageFailure): RpcError =>
  failure._tag === "BlockNotFound" ? RpcError.blockNotFound() : storageError(failure)
