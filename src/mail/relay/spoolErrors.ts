import { codeOf, type ErrorWords, reasonOf } from "../../base/errorCode.ts"
import { StorageUnavailable } from "../../storage/errors.ts"

const WORDS: ErrorWords = new Map([["ENOENT", "it is gone"]])

/** Errors that pass without the operator or with more room: the message is deferred and the relay goes on. */
const PASSING: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE"])

/** Whether the spool works again once there is room. */
export const isPassing = (error: unknown): boolean => PASSING.has(codeOf(error))

export const storageUnavailable = (
  { doing, file }: { readonly file: string; readonly doing: string },
  error: unknown
): StorageUnavailable => new StorageUnavailable({ file, doing, reason: reasonOf(codeOf(error), WORDS) })
