import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Random } from "./random.ts"

/** The topics of questions to a node. */
export type Topic = "node" | "blocks" | "names" | "wallets"

/** A family of files: how often one is chosen, and the outcomes that its damage may have. */
export interface Kind {
  readonly pattern: RegExp
  readonly weight: number
  /** Topics asked about in every case, beside the node; the rest in one case of four, as it costs most of the time. */
  readonly topics: ReadonlyArray<Topic>
  /** Whether a node may refuse to start, with a message that names the file. */
  readonly refusable?: true
  /** Errors that calls may answer with: they name what is lost, and no answer is wrong. */
  readonly told?: RegExp
  /** Methods whose answers may change where the log names the file that was put aside: its content is not a promise. */
  readonly dispensable?: ReadonlyArray<string>
}

/** The first pattern that matches counts. Small files that matter have more than their share. */
export const KINDS: ReadonlyArray<Kind> = [
  { pattern: /-shm$/, weight: 1, topics: ["blocks", "names", "wallets"] },
  { pattern: /wallet.*-(wal|sums)$/, weight: 2, topics: ["wallets"] },
  { pattern: /-wal$/, weight: 4, topics: ["blocks", "names"] },
  { pattern: /\.sums(-.*)?$/, weight: 3, topics: ["blocks", "names", "wallets"] },
  { pattern: /^chainstate\/chainstate\.db$/, weight: 18, topics: ["blocks", "names"] },
  { pattern: /^chainstate\/txindex\.db$/, weight: 6, topics: ["blocks"] },
  { pattern: /^chainstate\/wallet.*\.db$/, weight: 6, topics: ["wallets"] },
  { pattern: /^names\.db$/, weight: 18, topics: ["names"] },
  { pattern: /^blocks\/blk/, weight: 10, topics: ["blocks"] },
  { pattern: /^blocks\/undo/, weight: 6, topics: ["blocks"], told: /undo data|undo\d{5}\.dat/i },
  { pattern: /^wallet\.json$/, weight: 12, topics: ["wallets"], refusable: true },
  { pattern: /^wallets\/.*\.json$/, weight: 5, topics: ["wallets"], refusable: true },
  // The node loads all wallets in its place.
  { pattern: /^wallets\.json$/, weight: 2, topics: ["wallets"], dispensable: ["listwallets"] },
  { pattern: /^peers\.json$/, weight: 3, topics: [], dispensable: ["listbanned", "getnodeaddresses"] },
  { pattern: /^mempool\.dat$/, weight: 3, topics: [], dispensable: ["getrawmempool"] },
  { pattern: /^fee_estimates\.json$/, weight: 3, topics: [], dispensable: ["estimatesmartfee"] },
  { pattern: /^svcd\.conf$/, weight: 1, topics: [], refusable: true },
  { pattern: /^NETWORK$/, weight: 1, topics: [], refusable: true },
  { pattern: /^LOCK$/, weight: 1, topics: [] },
  // The node never reads copies that the owner made.
  { pattern: /^backup-/, weight: 0, topics: [] },
  { pattern: /./, weight: 2, topics: ["blocks", "names", "wallets"] }
]

export const kindOf = (file: string): Kind => {
  const kind = KINDS.find(({ pattern }) => pattern.test(file))
  if (kind === undefined) throw new Error(`no kind fits ${file}`)
  return kind
}

/** A file of a data directory. */
export interface Target {
  /** Relative, with slashes. */
  readonly file: string
  readonly size: number
}

/** All files that are not empty, in an order that does not depend on the system. */
export const targetsIn = (directory: string): ReadonlyArray<Target> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .sort()
    .flatMap((file) => {
      const found = statSync(join(directory, file))
      return found.isFile() && found.size > 0 ? [{ file, size: found.size }] : []
    })

/** One bit of one file. */
export interface Flip {
  readonly file: string
  readonly offset: number
  readonly bit: number
}

/** Chooses a kind by weight, one of its files, then a bit. */
export const chooseFlip = (random: Random, targets: ReadonlyArray<Target>): Flip => {
  const families = KINDS.flatMap((kind) => {
    const members = targets.filter(({ file }) => kindOf(file) === kind)
    return members.length > 0 && kind.weight > 0 ? [{ kind, members }] : []
  })
  let at = random.below(families.reduce((sum, { kind }) => sum + kind.weight, 0))
  for (const { kind, members } of families) {
    at -= kind.weight
    if (at >= 0) continue
    const { file, size } = random.pick(members)
    return { file, offset: random.below(size), bit: random.below(8) }
  }
  throw new Error("there is no file to flip a bit in")
}
