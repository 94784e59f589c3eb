/** The system's error code, such as `ENOENT`; `undefined` for an error without one. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** The same; for an error without a code, its message, else its name. */
export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return systemCode(error) ?? (error.message === "" ? error.name : error.message)
}

/** Words for error codes. */
export type ErrorWords = ReadonlyMap<string, string>

const WORDS: ErrorWords = new Map([
  // Files.
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "it has reached the largest size a file may have"],
  ["EISDIR", "it is a directory"],
  // Codes of `givenFile.ts`.
  ["ENOTFILE", "it is not a regular file"],
  ["ETOOLARGE", "it is too large"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["ENAMETOOLONG", "the path is too long"],
  ["ELOOP", "the path goes round in circles"],
  ["EMFILE", "too many open files"],
  ["ENFILE", "too many open files"],
  // Listening.
  ["EADDRINUSE", "the address is in use; another program, or another svcd, listens there"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  // Connecting.
  ["ECONNREFUSED", "connection refused"],
  ["ECONNRESET", "connection reset"],
  ["EHOSTUNREACH", "no route to the host"],
  ["ENETUNREACH", "no route to the network"],
  ["ENOTFOUND", "the host is not known"],
  ["EAI_AGAIN", "the host name cannot be resolved"],
  ["ETIMEDOUT", "no answer in time"]
])

const NO_WORDS: ErrorWords = new Map()

/**
 * Returns the words for an error code, and a code without words as it is. `own`: codes whose meaning depends on what
 * the program did, such as a missing file.
 */
export const reasonOf = (code: string, own: ErrorWords = NO_WORDS): string => own.get(code) ?? WORDS.get(code) ?? code

/** What the operator does about a disk. */
const REMEDIES: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOSPC", "; make room and start again"],
  ["EROFS", "; mount it writable, or use another directory"]
])

/** What to add to a sentence about a failure if its code is of the disk; else empty. */
export const diskRemedy = (code: string | undefined): string => REMEDIES.get(code) ?? ""
