import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/**
 * How a program should handle an error, as a schema annotation of its class, where `HttpApi` of @effect/platform finds
 * the status. Callers can act on 400 to 422. A 503 is temporary, or the operator has to act. 500, 501 and 502 concern
 * the service and its setup.
 */
export interface FailureVerdict {
  /** Whether the same call can succeed later, without any change. */
  readonly transient: boolean
  readonly status: number
}

/** `AnnotationStatus` of @effect/platform's `HttpApiSchema`, which loads a hundred modules. */
const STATUS = Symbol.for("@effect/platform/HttpApiSchema/AnnotationStatus")
const TRANSIENT = Symbol.for("svcd/transient")

const annotation = ({ status, transient }: FailureVerdict) => ({ [STATUS]: status, [TRANSIENT]: transient })

export const lasting = (status: number) => annotation({ transient: false, status })

export const PASSING = annotation({ transient: true, status: 503 })

/** On a class without a schema: the class whose annotations it shares. */
export const ANNOTATED = Symbol.for("svcd/annotated")

export const annotatedVerdict = (error: Error): FailureVerdict | undefined => {
  const own: unknown = error.constructor
  const made = typeof own === "function" && ANNOTATED in own ? own[ANNOTATED] : own
  if (!Schema.isSchema(made)) return undefined
  const { annotations } = SchemaAST.typeAST(made.ast)
  const status = annotations[STATUS]
  return typeof status === "number" ? { status, transient: annotations[TRANSIENT] === true } : undefined
}
