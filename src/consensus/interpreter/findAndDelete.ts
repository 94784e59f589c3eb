import type { Bytes } from "../../protocol/bytes.ts"
import { ScriptCursor } from "../../protocol/script.ts"

const standsAt = (script: Bytes, at: number, wanted: Bytes): boolean => {
  if (wanted.length > script.length - at) return false
  for (let i = 0; i < wanted.length; i++) if (script[at + i] !== wanted[i]) return false
  return true
}

/**
 * Removes every occurrence of some bytes that begins at an instruction of the script, or right after another
 * occurrence. Returns the script itself if there is none. `wanted` is not empty. Source: upstream
 * `script/interpreter.cpp`, `FindAndDelete`.
 */
export const findAndDelete = (script: Bytes, wanted: Bytes): Bytes => {
  if (wanted.length > script.length) return script
  let kept: Uint8Array | undefined
  let size = 0
  let start = 0
  const cursor = new ScriptCursor(script)
  do {
    const found = cursor.offset
    while (standsAt(script, cursor.offset, wanted)) cursor.offset += wanted.length
    if (cursor.offset === found) continue
    kept ??= new Uint8Array(script.length)
    kept.set(script.subarray(start, found), size)
    size += found - start
    start = cursor.offset
  } while (cursor.next())
  if (kept === undefined) return script
  kept.set(script.subarray(start), size)
  return kept.subarray(0, size + script.length - start)
}
