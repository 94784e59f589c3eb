import type { BlockFiles, FileFamily, Place } from "../../storage/BlockFiles.ts"
import { type BlockIndex, Status } from "../index/BlockIndex.ts"

/** The bit that says that a block is in the files of a family. */
const BITS = { blk: Status.HAVE_DATA, undo: Status.HAVE_UNDO } as const

const placeOf = (index: BlockIndex, family: FileFamily, id: number): Place =>
  family === "blk" ? index.dataPlace(id) : index.undoPlace(id)

/** Runs through the blocks that are in the files of a family. */
const inFamily = function*(index: BlockIndex, family: FileFamily): Iterable<readonly [id: number, place: Place]> {
  for (let id = 0; id < index.count; id++) if (index.has(id, BITS[family])) yield [id, placeOf(index, family, id)]
}

/** Where the last record that the index knows ends, by file. */
const endsOf = (index: BlockIndex, family: FileFamily): Map<number, number> => {
  const ends = new Map<number, number>()
  for (const [, { file, offset, size }] of inFamily(index, family)) {
    ends.set(file, Math.max(ends.get(file) ?? 0, offset + size))
  }
  return ends
}

/** Forgets the records of a file that lie beyond its end; says which heights they are of. */
const forget = (index: BlockIndex, files: BlockFiles, family: FileFamily, file: number): string => {
  const size = files.sizeOf(family, file)
  let [from, to] = [Infinity, 0]
  for (const [id, place] of inFamily(index, family)) {
    if (place.file !== file || place.offset + place.size <= size) continue
    index.clearStatus(id, BITS[family])
    from = Math.min(from, index.height(id))
    to = Math.max(to, index.height(id))
  }
  // What is left of the last record is no record.
  files.cut(family, file, endsOf(index, family).get(file) ?? 0)
  const what = family === "blk" ? "blocks" : "undo data of blocks"
  return `repaired ${files.path(family, file)}: its end is missing, with the ${what} from height ${from} to ${to}; ` +
    "they are taken again when they come by"
}

/** Bytes of a block file behind the last record that the index knows. */
export interface Tail {
  readonly file: number
  /** Where it begins. */
  readonly from: number
}

/** What was mended at the start, in words, and what is left to look at. */
export interface Mended {
  readonly said: ReadonlyArray<string>
  readonly tails: ReadonlyArray<Tail>
}

/**
 * Brings block files and index together after a crash: forgets what lies beyond the end of a file, and cuts undo data off
 * that were written behind the last commit. Blocks that were written behind it may have been acknowledged: they are read
 * again (`tails`), and what is left then is cut off by `cutTails`. Throws `StorageFailure`.
 *
 * While an index is rebuilt from block files they hold more than it knows, and all of it is wanted: there are no tails
 * until genesis, which is noted last, says that the rebuild is over.
 */
export const repairFiles = (index: BlockIndex, files: BlockFiles): Mended => {
  const said: Array<string> = []
  const tails: Array<Tail> = []
  const families = index.has(0, Status.HAVE_DATA) ? ["blk", "undo"] as const : ["undo"] as const
  for (const family of families) {
    const ends = endsOf(index, family)
    for (const file of new Set([...files.numbers(family), ...ends.keys()])) {
      const end = ends.get(file) ?? 0
      const size = files.sizeOf(family, file)
      if (size < end) said.push(forget(index, files, family, file))
      else if (family === "undo") files.cut(family, file, end)
      else if (size > end) tails.push({ file, from: end })
    }
  }
  return { said, tails }
}

/** Cuts off what is no block in the tails, once their blocks are in the index. Says what was cut off. */
export const cutTails = (index: BlockIndex, files: BlockFiles, tails: ReadonlyArray<Tail>): ReadonlyArray<string> => {
  if (tails.length === 0) return []
  const ends = endsOf(index, "blk")
  return tails.flatMap(({ file, from }) => {
    const gone = files.cut("blk", file, Math.max(from, ends.get(file) ?? 0))
    if (gone === 0) return []
    return [`repaired ${files.path("blk", file)}: cut off ${gone} bytes that were written when the node was ended`]
  })
}
