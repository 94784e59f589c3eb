import type * as original from "../errors.ts"
import * as classes from "./errors.ts"

type ByTag = { readonly [E in classes.SvcdError as E["_tag"]]: E }

const CLASSES: { readonly [Tag in original.SvcdError["_tag"]]: new(fields: ByTag[Tag]) => ByTag[Tag] } = classes

const isFailure = (error: unknown): error is classes.SvcdError =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string" && Object.hasOwn(CLASSES, error._tag)

const plain = <Tag extends keyof typeof CLASSES>(tag: Tag, error: ByTag[Tag]): ByTag[Tag] => new CLASSES[tag](error)

/** Turns a failure of `NameClient` into its plain error. Anything else stays as it is. */
export const plainError = (error: unknown): unknown => isFailure(error) ? plain(error._tag, error) : error
