import { basename, dirname, isAbsolute, join } from "node:path"
import { replaceFile } from "../../base/atomicFile.ts"
import { entriesAside, fileAside, removeAside, statAside, unlinkAside } from "../../base/disk.ts"
import { randomHex } from "../../base/entropy.ts"
import { codeOf } from "../../base/errorCode.ts"

/**
 * Drafts contain keys, so none may remain after the process is killed. Those beside the file are found by their names.
 * A copy is written elsewhere, so a note beside the file has the path of its draft. Functions throw file system errors.
 *
 *     wallet.json.<id>.new     a draft of wallet.json
 *     wallet.json.<id>.copy    a note with the path of the draft of a copy, `<destination>.<id>.new`
 */

const ID_BYTES = 16

/** The end of the name of a draft of the file, a kept older format, or a note. */
const DRAFT_END = /^(?:\.version\d+(?:\.\d+)?\.bak)?\.[0-9a-f]{32}(?:\.copy)?\.new$/
const NOTE_END = /^\.([0-9a-f]{32})\.copy$/

const newId = (): string => randomHex(ID_BYTES)

/** Writes beside the file first, under a unique name. */
export const writeWhole = ({ path, text }: { readonly path: string; readonly text: string }): Promise<void> =>
  replaceFile(path, [text], `${path}.${newId()}.new`)

/** A path that does not exist or cannot exist. */
const MISSING = ["ENOENT", "ENOTDIR", "ENAMETOOLONG"]

const isMissing = (error: unknown): boolean => MISSING.includes(codeOf(error))

const isFolder = (path: string): Promise<boolean> => statAside(path).then((found) => found.isDirectory(), () => false)

/** Returns whether the draft is certainly gone; in an unreachable folder, such as a removed disk, it is not. */
const dropDraft = (draft: string): Promise<boolean> =>
  unlinkAside(draft).then(() => true, (error: unknown) => isMissing(error) ? isFolder(dirname(draft)) : false)

/** `undefined` for an invalid note, whose path must not be deleted. */
const draftOf = (note: string, { id }: { readonly id: string }): string | undefined => {
  const draft = note.trimEnd()
  return isAbsolute(draft) && draft.endsWith(`.${id}.new`) ? draft : undefined
}

export const writeCopy = async (
  { destination, file, text }: { readonly file: string; readonly destination: string; readonly text: string }
): Promise<void> => {
  const id = newId()
  const [draft, note] = [`${destination}.${id}.new`, `${file}.${id}.copy`]
  // A full disk must not prevent a copy elsewhere, which is then made without the note.
  const noted = await replaceFile(note, [`${draft}\n`]).then(() => true, () => false)
  try {
    await replaceFile(destination, [text], draft)
  } finally {
    if (noted && await dropDraft(draft)) await removeAside(note)
  }
}

const besides = async (file: string): Promise<ReadonlyArray<{ readonly path: string; readonly end: string }>> => {
  const [directory, name] = [dirname(file), basename(file)]
  const entries = await entriesAside(directory)
  return entries
    .filter((entry) => entry.startsWith(name))
    .map((entry) => ({ path: join(directory, entry), end: entry.slice(name.length) }))
}

/** Must not run during a write of the file. */
export const dropDrafts = async (file: string): Promise<void> => {
  for (const { end, path } of await besides(file)) if (DRAFT_END.test(end)) await unlinkAside(path)
}

/** Returns the drafts that are now unreachable, for a later call. Must not run during a copy. */
export const dropCopies = async (file: string): Promise<ReadonlyArray<string>> => {
  const unreachable: Array<string> = []
  for (const { end, path } of await besides(file)) {
    const id = NOTE_END.exec(end)?.[1]
    if (id === undefined) continue
    const draft = draftOf((await fileAside(path)).toString("utf8"), { id })
    if (draft === undefined || await dropDraft(draft)) await unlinkAside(path)
    else unreachable.push(draft)
  }
  return unreachable
}
