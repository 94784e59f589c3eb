import { codeOf } from "../../base/errorCode.ts"
import { StorageUnavailable } from "../../storage/errors.ts"

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["ENOENT", "it is gone"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["EMFILE", "too many open files"]
])

/** Errors that pass without the operator or with more room: the message is deferred and the relay goes on. */
const PASSING: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE"])

/** Whether the spool works again once there is room. */
export const isPassing = (error: unknown): boolean => PASSING.has(codeOf(error))

export const storageUnavailable = (file: string, doing: string, error: unknown): StorageUnavailable => {
  const code = codeOf(error)
  return new StorageUnavailable({ file, doing, reason: REASONS.get(code) ?? code })
}
