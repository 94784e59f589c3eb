import type { CursorUnusable } from "../names/errors.ts"
import type { ChangesFailure, OpenFailure, OperationFailure, ResolveFailure } from "./errors.ts"

/** What a program makes of a failure without a case for each: whether to try again, and how to answer by HTTP. */

/** Every failure of a client. */
export type SvcdError = ResolveFailure | ChangesFailure | OperationFailure | OpenFailure

interface Verdict {
  /** Whether the same call can succeed later, with nothing done about it. */
  readonly transient: boolean
  readonly status: number
}

const BAD_REQUEST = 400
const NOT_FOUND = 404
const CONFLICT = 409
const GONE = 410
const UNPROCESSABLE = 422
const INTERNAL = 500
const NOT_IMPLEMENTED = 501
const BAD_GATEWAY = 502
const UNAVAILABLE = 503

const PASSING: Verdict = { transient: true, status: UNAVAILABLE }

const lasting = (status: number): Verdict => ({ transient: false, status })

const CURSORS: Readonly<Record<CursorUnusable["why"], Verdict>> = {
  damaged: lasting(BAD_REQUEST),
  unknown: lasting(GONE),
  early: lasting(GONE),
  pruned: lasting(GONE),
  future: PASSING
}

/** The compiler asks for an entry for each failure, and the tests for each class that is exported. */
export const VERDICTS: Readonly<Record<Exclude<SvcdError["_tag"], "CursorUnusable">, Verdict>> = {
  // Of the request.
  InvalidRequest: lasting(BAD_REQUEST),
  NameNotFound: lasting(NOT_FOUND),
  NameExpired: lasting(GONE),
  NameUnavailable: lasting(CONFLICT),
  RegistrationFailed: lasting(CONFLICT),
  OperationRejected: lasting(UNPROCESSABLE),

  NotSynced: PASSING,
  DaemonUnreachable: PASSING,
  DaemonNotReady: PASSING,
  DatabaseUnavailable: PASSING,

  // The operator or the program has to act: unlock or fund the wallet, make room, open another client.
  WalletLocked: lasting(UNAVAILABLE),
  InsufficientFunds: lasting(UNAVAILABLE),
  StorageUnavailable: lasting(UNAVAILABLE),
  DataDirectoryInUse: lasting(UNAVAILABLE),
  ClientClosed: lasting(UNAVAILABLE),

  // Of the program and what it is set up with. Whose request it was cannot help it.
  WalletDisabled: lasting(NOT_IMPLEMENTED),
  DaemonRefused: lasting(BAD_GATEWAY),
  Unauthorized: lasting(BAD_GATEWAY),
  InvalidConfig: lasting(INTERNAL),
  WrongNetwork: lasting(INTERNAL),
  DataDirectoryUnusable: lasting(INTERNAL),
  StorageCorrupted: lasting(INTERNAL),
  WalletDamaged: lasting(INTERNAL),
  InternalError: lasting(INTERNAL)
}

const isSvcdError = (error: unknown): error is SvcdError =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string" &&
  (error._tag === "CursorUnusable" || Object.hasOwn(VERDICTS, error._tag))

const verdictOf = (error: unknown): Verdict => {
  if (!isSvcdError(error)) return lasting(INTERNAL)
  return error._tag === "CursorUnusable" ? CURSORS[error.why] : VERDICTS[error._tag]
}

/**
 * Whether to try again: the node is not synced, or its source does not answer now. `false` for what is no failure of svcd. After
 * such a failure of `registerName` and `updateName`, look at the name first: the daemon may have carried it out.
 */
export const isTransient = (error: unknown): boolean => verdictOf(error).transient

/** The status by which an HTTP service answers: 404 for a name that is not registered, for instance. 500 for what is no failure of svcd. */
export const httpStatus = (error: unknown): number => verdictOf(error).status
