import { type Height, type ScriptKey, scriptKey } from "../../protocol/keys.ts"
import type { ConnectedBlock } from "../write/Follower.ts"
import { eachScriptHash } from "./hashRows.ts"

/** Scripts of which blocks came or went; `all` if unknown. */
export type TouchedScripts = ReadonlySet<ScriptKey> | "all"

/** Blocks whose scripts are remembered: more than a usual reorg disconnects. */
const KEPT = 100

/** Their scripts, some 100 bytes each; older blocks give way. */
const KEPT_KEYS = 200_000

/** Which scripts the last blocks touched, so that a reorg is known to touch no others. */
export class LastTouched {
  /** Without a gap, ascending. */
  readonly #blocks: Array<{ readonly height: Height; readonly keys: ReadonlySet<ScriptKey> }> = []
  readonly #keptKeys: number

  constructor(keptKeys = KEPT_KEYS) {
    this.#keptKeys = keptKeys
  }

  /** Notes blocks that were added, and returns what they touch. */
  add(blocks: ReadonlyArray<ConnectedBlock>): TouchedScripts {
    const touched = new Set<ScriptKey>()
    for (const block of blocks) {
      const keys = new Set<ScriptKey>()
      eachScriptHash(block, (hash) => keys.add(scriptKey(hash)))
      this.#blocks.push({ height: block.height, keys })
      for (const key of keys) touched.add(key)
    }
    this.#forgetOldest()
    return touched
  }

  /** The newest block stays in any case. */
  #forgetOldest(): void {
    let kept = 0
    let keys = 0
    for (const block of this.#blocks.toReversed()) {
      keys += block.keys.size
      if (kept === KEPT || (kept > 0 && keys > this.#keptKeys)) break
      kept++
    }
    this.#blocks.splice(0, this.#blocks.length - kept)
  }

  /** Forgets the blocks above a height, and returns what they touched. */
  removeAbove(height: Height): TouchedScripts {
    const first = this.#blocks[0]
    const gone = this.#blocks.splice(this.#blocks.findLastIndex((block) => block.height <= height) + 1)
    if (first === undefined || first.height > height + 1) return "all"
    const touched = new Set<ScriptKey>()
    for (const { keys } of gone) for (const key of keys) touched.add(key)
    return touched
  }

  clear(): void {
    this.#blocks.length = 0
  }
}
