/**
 * `svcd/values`: what the value of a name says, and what is wrong with it (ifa-0001 and its kin). Plain functions over texts, without files
 * and network.
 *
 * ```ts
 * import { lint } from "svcd/values"
 * ```
 */

export * from "./values/lint.ts"
