/**
 * `svcd/values`: the content of a name's value, and its problems (ifa-0001 and related ones). Plain functions over
 * texts, without files and network.
 *
 * ```ts
 * import { lint } from "svcd/values"
 * ```
 */

export * from "./values/lint.ts"
