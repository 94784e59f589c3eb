import type { MinedBlockRefused, TemplateInvalid } from "../../mempool/mining/errors.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { RpcError } from "../method/RpcError.ts"
import { storageError } from "./errors.ts"

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
