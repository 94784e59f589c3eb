/**
 * `svcd/testing`: names in memory, for tests of programs that use `NameClient`.
 *
 * ```ts
 * import { NameClient } from "svcd"
 * import { layerMemory, MemoryNames } from "svcd/testing"
 *
 * const Test = layerMemory({ "d/example": "{\"ip\":\"192.0.2.1\"}" })
 * ```
 */

export { layerMemory, type MemoryFailure, MemoryNames } from "./node/memoryNames.ts"
