import { annotatedVerdict, type FailureVerdict } from "../base/verdict.ts"
import type { CursorUnusable } from "../names/errors.ts"

/** What a program makes of a failure without a case for each: whether to try again, and how to answer by HTTP. */

/** What is not a failure of svcd. */
const FOREIGN: FailureVerdict = { transient: false, status: 500 }

/** A cursor that cannot be used, or not yet. A class has one annotation: that of the others. */
const CURSORS: Readonly<Partial<Record<CursorUnusable["why"], FailureVerdict>>> = {
  damaged: { transient: false, status: 400 },
  future: { transient: true, status: 503 }
}

/** By its tag: `svcd` and `svcd/promise` have a class each. */
const isOfCursor = (error: Error): error is CursorUnusable => "_tag" in error && error._tag === "CursorUnusable"

const verdictOf = (error: unknown): FailureVerdict => {
  if (!(error instanceof Error)) return FOREIGN
  const ofCursor = isOfCursor(error) ? CURSORS[error.why] : undefined
  return ofCursor ?? annotatedVerdict(error) ?? FOREIGN
}

/**
 * Whether to try again: the node is not synced, or its source does not answer now. `false` for what is not a failure of svcd. After
 * such a failure of `registerName` and `updateName`, look at the name first: the daemon may have carried it out.
 */
export const isTransient = (error: unknown): boolean => verdictOf(error).transient

/**
 * The status by which an HTTP service answers: 404 for a name that is not registered, for instance. The error classes have it as
 * annotations of `HttpApi` too. An error of the program with such an annotation has that status, any other error 500.
 */
export const httpStatus = (error: unknown): number => verdictOf(error).status
