import { annotatedVerdict, type FailureVerdict } from "../base/verdict.ts"
import type { CursorUnusable } from "../names/errors.ts"

/** How a program handles any failure: whether to retry, and the HTTP status. */

const FOREIGN: FailureVerdict = { transient: false, status: 500 }

/** By cause, because a class has only one annotation. */
const CURSORS: Readonly<Partial<Record<CursorUnusable["why"], FailureVerdict>>> = {
  damaged: { transient: false, status: 400 },
  future: { transient: true, status: 503 }
}

/** By tag, because `svcd` and `svcd/promise` each have a class. */
const isOfCursor = (error: Error): error is CursorUnusable => "_tag" in error && error._tag === "CursorUnusable"

const verdictOf = (error: unknown): FailureVerdict => {
  if (!(error instanceof Error)) return FOREIGN
  const ofCursor = isOfCursor(error) ? CURSORS[error.why] : undefined
  return ofCursor ?? annotatedVerdict(error) ?? FOREIGN
}

/**
 * Whether to try again: the node is not synced, or its source does not answer now. `false` for errors of other origin.
 * After a transient failure of `registerName` or `updateName`, look at the name first: the daemon may have done it.
 */
export const isTransient = (error: unknown): boolean => verdictOf(error).transient

/**
 * The status of an HTTP service's answer, such as 404 for an unregistered name. The error classes carry it as an
 * `HttpApi` annotation. An annotated error of the program has its own status, any other error 500.
 */
export const httpStatus = (error: unknown): number => verdictOf(error).status
