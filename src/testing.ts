/**
 * `svcd/testing`: names in memory, and a node on a private network, for tests of programs that use `NameClient`.
 *
 * ```ts
 * import { NameClient } from "svcd"
 * import { layerMemory, MemoryNames } from "svcd/testing"
 *
 * const Test = layerMemory({ "d/example": "{\"ip\":\"192.0.2.1\"}" })
 * ```
 */

import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { NameClient } from "./client/NameClient.ts"
import type { RegtestNode } from "./node/RegtestNode.ts"

/**
 * A node on a private network, without peers, in a temporary directory that is removed at the end. Its wallet has
 * coins. Starting takes some seconds; the node is loaded on use.
 */
export const layerRegtest = (): Layer.Layer<NameClient | RegtestNode> =>
  Layer.unwrapEffect(Effect.map(Effect.promise(() => import("./node/regtest.ts")), ({ layer }) => layer))

export { layerMemory, type MemoryFailure, MemoryNames } from "./node/memoryNames.ts"
export { RegtestNode } from "./node/RegtestNode.ts"
