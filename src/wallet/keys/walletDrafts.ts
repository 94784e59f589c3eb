import { randomBytes } from "node:crypto"
import { readdir, readFile, rm, stat, unlink } from "node:fs/promises"
import { basename, dirname, isAbsolute, join } from "node:path"
import { replaceFile } from "../../base/atomicFile.ts"
import { codeOf } from "../../base/errorCode.ts"

/**
 * Drafts of a wallet's file. Each holds the keys, so none may stay behind where the process is killed: those beside the
 * file are known by their names, and of one that is written elsewhere, for a copy, a note beside the file says where.
 *
 *     wallet.json.<id>.new     a draft of wallet.json
 *     wallet.json.<id>.copy    a note: which draft a copy was begun with, `<destination>.<id>.new`
 *
 * The functions throw what the system throws.
 */

const ID_BYTES = 16

/** A draft of the file, of what is kept of an older format, or of a note. */
const DRAFT_END = /^(?:\.version\d+(?:\.\d+)?\.bak)?\.[0-9a-f]{32}(?:\.copy)?\.new$/
const NOTE_END = /^\.([0-9a-f]{32})\.copy$/

const newId = (): string => randomBytes(ID_BYTES).toString("hex")

/** Writes beside the file first, under a name that no other writer has. */
export const writeWhole = (path: string, text: string): Promise<void> =>
  replaceFile(path, [text], `${path}.${newId()}.new`)

/** What the system says of something that is not there, or that cannot be. */
const MISSING = ["ENOENT", "ENOTDIR", "ENAMETOOLONG"]

const isMissing = (error: unknown): boolean => MISSING.includes(codeOf(error))

const isFolder = (path: string): Promise<boolean> => stat(path).then((found) => found.isDirectory(), () => false)

/**
 * Deletes a draft. Returns whether it is gone for certain: one in a folder that is away for now, as a disk that was
 * taken out, is not.
 */
const dropDraft = (draft: string): Promise<boolean> =>
  unlink(draft).then(() => true, (error: unknown) => isMissing(error) ? isFolder(dirname(draft)) : false)

/** Which draft a note tells of; `undefined` for a note that is none, and names nothing that could be deleted. */
const draftOf = (note: string, id: string): string | undefined => {
  const draft = note.trimEnd()
  return isAbsolute(draft) && draft.endsWith(`.${id}.new`) ? draft : undefined
}

/** Writes a copy of a wallet's file to an absolute path. */
export const writeCopy = async (file: string, destination: string, text: string): Promise<void> => {
  const id = newId()
  const [draft, note] = [`${destination}.${id}.new`, `${file}.${id}.copy`]
  // A full disk must not keep anyone from making a copy elsewhere: then it is made without the note.
  const noted = await replaceFile(note, [`${draft}\n`]).then(() => true, () => false)
  try {
    await replaceFile(destination, [text], draft)
  } finally {
    if (noted && await dropDraft(draft)) await rm(note, { force: true })
  }
}

/** The files beside a wallet's file whose names go on from its own, by how they end. */
const besides = async (file: string): Promise<ReadonlyArray<{ readonly path: string; readonly end: string }>> => {
  const [directory, name] = [dirname(file), basename(file)]
  const entries = await readdir(directory)
  return entries
    .filter((entry) => entry.startsWith(name))
    .map((entry) => ({ path: join(directory, entry), end: entry.slice(name.length) }))
}

/** Deletes what writes that were cut off have left beside a file. Not to be called while the file is written. */
export const dropDrafts = async (file: string): Promise<void> => {
  for (const { end, path } of await besides(file)) if (DRAFT_END.test(end)) await unlink(path)
}

/**
 * Deletes what copies that were cut off have left, wherever that was. Returns drafts that cannot be reached now, and that
 * a later call tries again. Not to be called while a copy is made.
 */
export const dropCopies = async (file: string): Promise<ReadonlyArray<string>> => {
  const unreachable: Array<string> = []
  for (const { end, path } of await besides(file)) {
    const id = NOTE_END.exec(end)?.[1]
    if (id === undefined) continue
    const draft = draftOf(await readFile(path, "utf8"), id)
    if (draft === undefined || await dropDraft(draft)) await unlink(path)
    else unreachable.push(draft)
  }
  return unreachable
}
