import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/**
 * What a program makes of a failure without a case for each. The class of the error carries it, as an annotation of its schema, where
 * `HttpApi` of @effect/platform finds the status. The caller of an HTTP service can act on 400 to 422; 503 passes, or its operator has to act; 500,
 * 501 and 502 are of the service and what it is set up with.
 */
export interface FailureVerdict {
  /** Whether the same call can succeed later, with nothing done about it. */
  readonly transient: boolean
  /** Of an HTTP answer. */
  readonly status: number
}

/** `AnnotationStatus` of @effect/platform's `HttpApiSchema`, which loads a hundred modules. */
const STATUS = Symbol.for("@effect/platform/HttpApiSchema/AnnotationStatus")
const TRANSIENT = Symbol.for("svcd/transient")

const annotation = ({ status, transient }: FailureVerdict) => ({ [STATUS]: status, [TRANSIENT]: transient })

/** The same call fails again. */
export const lasting = (status: number) => annotation({ transient: false, status })

/** Passes by itself. */
export const PASSING = annotation({ transient: true, status: 503 })

/** Where a class without a schema has the class whose annotations it shares. */
export const ANNOTATED = Symbol.for("svcd/annotated")

/** The verdict at the class of an error; `undefined` if it has none. */
export const annotatedVerdict = (error: Error): FailureVerdict | undefined => {
  const own: unknown = error.constructor
  const made = typeof own === "function" && ANNOTATED in own ? own[ANNOTATED] : own
  if (!Schema.isSchema(made)) return undefined
  const { annotations } = SchemaAST.typeAST(made.ast)
  const status = annotations[STATUS]
  return typeof status === "number" ? { status, transient: annotations[TRANSIENT] === true } : undefined
}
