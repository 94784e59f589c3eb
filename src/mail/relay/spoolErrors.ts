import { codeOf, type ErrorWords } from "../../base/errorCode.ts"
import { storageUnavailable } from "../../storage/errors.ts"
import { io } from "../../storage/io.ts"

const WORDS: ErrorWords = new Map([["ENOENT", "it is gone"]])

/** Errors that pass without the operator or with more room: the message is deferred and the relay goes on. */
const PASSING: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE"])

/** Whether the spool works again once there is room. */
export const isPassing = (error: unknown): boolean => PASSING.has(codeOf(error))

type SpoolWork = Parameters<typeof io>[0]

export const spoolUnavailable = (on: SpoolWork, error: unknown) => storageUnavailable(on, error, WORDS)

/** Work on a file of the spool. */
export const spoolIo = <A>(on: SpoolWork, work: () => Promise<A>) => io(on, work, WORDS)
