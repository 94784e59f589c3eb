import type * as original from "../errors.ts"
import * as classes from "./errors.ts"

type ByTag = { readonly [E in classes.SvcdError as E["_tag"]]: E }

/** The compiler asks for a class for each failure of `NameClient`. */
const CLASSES: { readonly [Tag in original.SvcdError["_tag"]]: new(fields: ByTag[Tag]) => ByTag[Tag] } = classes

/** A failure of `NameClient` has all that the error of `svcd/promise` with its tag has. */
const isFailure = (error: unknown): error is classes.SvcdError =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string" && Object.hasOwn(CLASSES, error._tag)

const plain = <Tag extends keyof typeof CLASSES>(tag: Tag, error: ByTag[Tag]): ByTag[Tag] => new CLASSES[tag](error)

/** The error of `svcd/promise` for a failure of `NameClient`. Anything else stays what it is. */
export const plainError = (error: unknown): unknown => isFailure(error) ? plain(error._tag, error) : error
