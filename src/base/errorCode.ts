/** Such as `ENOENT`; `undefined` for an error without a code. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return systemCode(error) ?? (error.message === "" ? error.name : error.message)
}

export type ErrorWords = ReadonlyMap<string, string>

const WORDS: ErrorWords = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EIO", "the disk reports an error"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "it has reached the largest size a file may have"],
  ["EISDIR", "it is a directory"],
  ["ENOTFILE", "it is not a regular file"],
  ["ETOOLARGE", "it is too large"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["ENAMETOOLONG", "the path is too long"],
  ["ELOOP", "the path goes round in circles"],
  ["EMFILE", "too many open files"],
  ["ENFILE", "too many open files"],
  ["EADDRINUSE", "the address is in use; another program, or another svcd, listens there"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["ECONNREFUSED", "connection refused"],
  ["ECONNRESET", "connection reset"],
  ["EHOSTUNREACH", "no route to the host"],
  ["ENETUNREACH", "no route to the network"],
  ["ENOTFOUND", "the host is not known"],
  ["EAI_AGAIN", "the host name cannot be resolved"],
  ["ETIMEDOUT", "no answer in time"]
])

/** For a file that someone named. */
export const MISSING_FILE: ErrorWords = new Map([["ENOENT", "there is no such file"]])

const NO_WORDS: ErrorWords = new Map()

/** `own` has texts for codes whose meaning depends on the program, such as a missing file. Unknown codes stay. */
export const reasonOf = (code: string, own: ErrorWords = NO_WORDS): string => own.get(code) ?? WORDS.get(code) ?? code

const REMEDIES: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOSPC", "; make room and start again"],
  ["EROFS", "; mount it writable, or use another directory"],
  ["EIO", "; check the disk, and what the system's log says of it"]
])

/** SQLite has a code for each call that failed (`SQLITE_IOERR_WRITE`). */
export const diskRemedy = (code: string | undefined): string =>
  REMEDIES.get(code?.startsWith("SQLITE_IOERR") === true ? "EIO" : code) ?? ""
