import type { HeaderId } from "../../protocol/keys.ts"
import type { BlockFiles, FileFamily, Place } from "../../storage/BlockFiles.ts"
import { type BlockIndex, GENESIS, Status } from "../index/BlockIndex.ts"

const BITS = { blk: Status.HAVE_DATA, undo: Status.HAVE_UNDO } as const

const placeOf = (index: BlockIndex, family: FileFamily, id: HeaderId): Place =>
  family === "blk" ? index.dataPlace(id) : index.undoPlace(id)

/** The end of the last record by file number. */
type Ends = Map<number, number>

const extend = (ends: Ends, { file, offset, size }: Place): void =>
  void ends.set(file, Math.max(ends.get(file) ?? 0, offset + size))

/** The ends of all files according to the index. */
const endsIn = (index: BlockIndex): Readonly<Record<FileFamily, Ends>> => {
  const ends = { blk: new Map<number, number>(), undo: new Map<number, number>() }
  index.each((id, status) => {
    if ((status & Status.HAVE_DATA) !== 0) extend(ends.blk, index.dataPlace(id))
    if ((status & Status.HAVE_UNDO) !== 0) extend(ends.undo, index.undoPlace(id))
  })
  return ends
}

interface FileName {
  readonly family: FileFamily
  readonly file: number
}

/** Removes records beyond the end of a file from the index. Returns a message with their heights. */
const forget = (index: BlockIndex, files: BlockFiles, { family, file }: FileName): string => {
  const size = files.sizeOf(family, file)
  let [from, to] = [Infinity, 0]
  index.each((id, status) => {
    const place = placeOf(index, family, id)
    const isThere = place.file !== file || place.offset + place.size <= size
    if ((status & BITS[family]) === 0 || isThere) return
    index.clearStatus(id, BITS[family])
    from = Math.min(from, index.height(id))
    to = Math.max(to, index.height(id))
  })
  // A partial last record is useless.
  files.cut(family, file, { end: endsIn(index)[family].get(file) ?? 0 })
  const what = family === "blk" ? "blocks" : "undo data of blocks"
  return `repaired ${files.path(family, file)}: its end is missing, with the ${what} from height ${from} to ${to}; ` +
    "they are stored again when a peer sends them"
}

/** The bytes of a block file after its last indexed record. */
export interface Tail {
  readonly file: number
  readonly from: number
}

export interface Mended {
  readonly said: ReadonlyArray<string>
  readonly tails: ReadonlyArray<Tail>
}

/**
 * Makes block files and index consistent after a crash: removes index entries beyond the end of a file, and undo data
 * written after the last commit. Blocks written after it may have been acknowledged, so they are read again (`tails`)
 * before `cutTails` removes the rest. Throws `StorageFailure`. While the index is rebuilt, the block files have more
 * blocks than the index, all of them needed. So there are no tails until genesis, which is indexed last.
 */
export const repairFiles = (index: BlockIndex, files: BlockFiles): Mended => {
  const said: Array<string> = []
  const tails: Array<Tail> = []
  const families = index.has(GENESIS, Status.HAVE_DATA | Status.PRUNED) ? ["blk", "undo"] as const : ["undo"] as const
  const endsOf = endsIn(index)
  for (const family of families) {
    const ends = endsOf[family]
    for (const file of new Set([...files.numbers(family), ...ends.keys()])) {
      const end = ends.get(file) ?? 0
      const size = files.sizeOf(family, file)
      if (size < end) said.push(forget(index, files, { family, file }))
      else if (family === "undo") files.cut(family, file, { end })
      else if (size > end) tails.push({ file, from: end })
    }
  }
  return { said, tails }
}

/** Truncates the tails after their last block, once their blocks are indexed. Returns messages. */
export const cutTails = (index: BlockIndex, files: BlockFiles, tails: ReadonlyArray<Tail>): ReadonlyArray<string> => {
  if (tails.length === 0) return []
  const ends = endsIn(index).blk
  return tails.flatMap(({ file, from }) => {
    const gone = files.cut("blk", file, { end: Math.max(from, ends.get(file) ?? 0) })
    if (gone === 0) return []
    return [`repaired ${files.path("blk", file)}: cut off ${gone} bytes after the last complete block`]
  })
}
